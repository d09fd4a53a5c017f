import Testing

extension Faults {
  @Suite("The line")
  struct LineFaults {
    private static let keepalive = "[keepalive]\ninterval = 1s\ntimeout = 1s"

    /// Runs `body` with a bot whose connection goes through a relay.
    private func carryOut(
      _ name: String, on kind: Server.Kind, sections: String = "", _ body: (FaultRun, Relay) throws -> Void
    ) throws {
      try FaultRun.carryOut(name, on: kind, sections: sections) { run in
        let relay = try Relay(to: run.server)
        run.bot.set("port", relay.port)
        try run.start()
        try body(run, relay)
        try run.finish()
      }
    }

    @Test("TCP reset: back within two seconds, nothing lost", arguments: Server.Kind.allCases)
    func reset(_ kind: Server.Kind) throws {
      try carryOut("TCP reset", on: kind) { run, relay in
        run.send(Faults.size(200, 10_000), rate: Faults.size(100, 500))
        for _ in 1...5 {
          try run.awaitSent(30)
          try run.outage(limit: 2) { relay.reset() }
        }
      }
    }

    @Test("clean close: back within two seconds, nothing lost", arguments: Server.Kind.allCases)
    func close(_ kind: Server.Kind) throws {
      try carryOut("clean close", on: kind) { run, relay in
        run.send(Faults.size(200, 10_000), rate: Faults.size(100, 500))
        for _ in 1...5 {
          try run.awaitSent(30)
          try run.outage(limit: 2) { relay.close() }
        }
      }
    }

    @Test("black hole: noticed within ping interval and time-out, nothing lost", arguments: Server.Kind.allCases)
    func blackHole(_ kind: Server.Kind) throws {
      try carryOut("black hole", on: kind, sections: Self.keepalive) { run, relay in
        run.send(Faults.size(200, 2_000))
        try run.awaitSent(50)
        try run.outage(limit: 2) {
          relay.hold()
          try run.bot.logged("the server stopped answering", within: .seconds(10))
          relay.release()
        }
      }
    }
  }
}
