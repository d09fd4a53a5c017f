import Testing

extension Faults {
  @Suite("The server")
  struct ServerFaults {
    @Test("frozen: noticed, and taken up again when it thaws", arguments: Faults.servers)
    func frozen(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("server frozen", on: kind, sections: "[keepalive]\ninterval = 1s\ntimeout = 1s") { run in
        try run.start()
        run.send(Faults.size(200, 10_000))
        try run.awaitSent(50)
        try run.outage {
          try run.server.freeze()
          defer { try? run.server.thaw() }
          try run.bot.logged("the server stopped answering", within: .seconds(10))
        }
        try run.finish()
      }
    }

    @Test("killed: caught up when it is back", arguments: Faults.servers)
    func killed(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("server killed", on: kind) { run in
        run.serverMayLose = true
        try run.start()
        run.send(Faults.size(200, 2_000))
        for _ in 1...Faults.size(1, 5) {
          try run.awaitSent(50)
          try run.outage {
            try run.server.kill()
            defer { try? run.server.start() }
            try run.bot.logged("disconnected")
          }
        }
        try run.finish()
      }
    }

    @Test("restarted: caught up when it is back", arguments: Faults.servers)
    func restarted(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("server restarted", on: kind) { run in
        run.serverMayLose = true
        try run.start()
        run.send(Faults.size(200, 2_000))
        for _ in 1...Faults.size(1, 5) {
          try run.awaitSent(50)
          try run.outage {
            defer { try? run.server.start() }
            try run.server.restart()
          }
        }
        try run.finish()
      }
    }

    @Test("its sessions and archives gone: the bot begins anew and goes on", arguments: Faults.servers)
    func forgotten(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("server state cleared", on: kind) { run in
        run.serverMayLose = true
        try run.start()
        run.send(100)
        try run.settle()
        try run.outage {
          // Some servers take ten seconds to stop in order.
          try run.server.kill()
          defer { try? run.server.start() }
          try run.server.forget()
        }
        run.send(100)
        try run.finish()
      }
    }

    @Test("</stream:stream> from the server: back within two seconds", arguments: Faults.servers)
    func ended(_ kind: Server.Kind) throws {
      guard kind == .prosody else {
        return FaultTable.notRun("stream closed", kind.rawValue, because: "ejabberd closes a stream with an error only")
      }
      try FaultRun.carryOut("stream closed", on: kind) { run in
        try run.start()
        run.send(Faults.size(200, 10_000), rate: Faults.rate(kind))
        for _ in 1...5 {
          try run.awaitSent(30)
          try run.outage(limit: 2) { try run.server.endStreams(of: run.bot.account) }
        }
        try run.finish()
      }
    }
  }
}
