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

    @Test("TCP reset: back within two seconds, nothing lost", arguments: Faults.servers)
    func reset(_ kind: Server.Kind) throws {
      try carryOut("TCP reset", on: kind) { run, relay in
        run.send(Faults.size(200, 10_000), rate: Faults.rate(kind))
        for _ in 1...5 {
          try run.awaitSent(30)
          try run.outage(limit: 2) { relay.reset() }
        }
      }
    }

    @Test("clean close: back within two seconds, nothing lost", arguments: Faults.servers)
    func close(_ kind: Server.Kind) throws {
      try carryOut("clean close", on: kind) { run, relay in
        run.send(Faults.size(200, 10_000), rate: Faults.rate(kind))
        for _ in 1...5 {
          try run.awaitSent(30)
          try run.outage(limit: 2) { relay.close() }
        }
      }
    }

    @Test("a silent proxy: noticed within ping interval and time-out, nothing lost", arguments: Faults.oneServer)
    func silent(_ kind: Server.Kind) throws {
      try carryOut("silent proxy", on: kind, sections: Self.keepalive) { run, relay in
        run.send(Faults.size(200, 2_000))
        try run.awaitSent(50)
        try run.outage(limit: 4) {
          relay.hold()
          try run.bot.logged("the server stopped answering", within: .seconds(10))
          relay.release()
        }
      }
    }

    @Test("a slow line: complete, and no false time-out", arguments: Faults.oneServer)
    func slow(_ kind: Server.Kind) throws {
      try carryOut("delay 300 ms", on: kind, sections: "[keepalive]\ninterval = 1s\ntimeout = 20s") { run, relay in
        relay.delay(300)
        // The operator waits for each answer of the server's.
        run.send(Faults.size(200, 10_000), rate: Faults.rate(kind), says: Faults.size(5, 100))
        try run.settle()
        Self.judgeStayed(run)
      }
    }

    @Test("bytes in tiny writes: complete", arguments: Faults.oneServer)
    func pieces(_ kind: Server.Kind) throws {
      try carryOut("tiny writes", on: kind, sections: "[keepalive]\ninterval = 1s\ntimeout = 20s") { run, relay in
        relay.pieces(7)
        run.send(Faults.size(200, 2_000))
        try run.settle()
        Self.judgeStayed(run)
      }
    }

    // MARK: - In a network of its own

    /// Runs `body` with a bot in a network of its own.
    private func carryOutApart(
      _ name: String, on kind: Server.Kind, concurrent: Int = 64, sections: String = keepalive,
      _ body: (FaultRun, Network) throws -> Void
    ) throws {
      if let obstacle = Network.obstacle { return FaultTable.notRun(name, kind.rawValue, because: obstacle) }
      try FaultRun.carryOut(name, on: kind, concurrent: concurrent, sections: sections) { run in
        let network = try Network()
        let relay = try Relay(to: run.server, on: network.host)
        run.bot.set("host", relay.host)
        run.bot.set("port", relay.port)
        run.bot.launcher = network.launcher
        try run.start()
        try body(run, network)
        try run.finish()
      }
    }

    @Test("black hole: noticed within ping interval and time-out, nothing lost", arguments: Faults.servers)
    func blackHole(_ kind: Server.Kind) throws {
      try carryOutApart("black hole", on: kind) { run, network in
        run.send(Faults.size(200, 2_000))
        for _ in 1...Faults.size(1, 5) {
          try run.awaitSent(50)
          try run.outage(limit: 6) {
            try network.lose(percent: 100)
            // As a rule since the server stopped answering.
            try run.bot.logged("next attempt in", within: .seconds(10))
            try network.lose(percent: 0)
          }
        }
      }
    }

    @Test("the cable is pulled and plugged in again: nothing lost", arguments: Faults.oneServer)
    func pulled(_ kind: Server.Kind) throws {
      try carryOutApart("cable pulled", on: kind) { run, network in
        run.send(200)
        try run.awaitSent(50)
        try run.outage {
          try network.pull()
          try run.bot.logged("disconnected", within: .seconds(20))
          try network.plug()
        }
      }
    }

    @Test("a tenth of all packets lost: complete, and no false time-out", arguments: Faults.oneServer)
    func loss(_ kind: Server.Kind) throws {
      try carryOutApart("loss 10 %", on: kind, sections: "[keepalive]\ninterval = 3s\ntimeout = 20s") { run, network in
        try network.lose(percent: 10)
        run.send(Faults.size(200, 2_000))
        try run.settle()
        Self.judgeStayed(run)
        try network.lose(percent: 0)
      }
    }

    @Test("a narrow link: complete, and no false time-out", arguments: Faults.oneServer)
    func narrow(_ kind: Server.Kind) throws {
      // What comes, comes in crowds, and with it more commands at once than the usual limit takes.
      try carryOutApart("64 kbit/s", on: kind, concurrent: 300, sections: "[keepalive]\ninterval = 5s\ntimeout = 20s") {
        run, network in
        try network.narrow(kilobits: 64)
        run.send(Faults.size(100, 2_000))
        try run.settle()
        Self.judgeStayed(run)
      }
    }

    private static func judgeStayed(_ run: FaultRun) {
      run.require(!run.bot.log.contains("disconnected"), "a false time-out")
    }
  }
}
