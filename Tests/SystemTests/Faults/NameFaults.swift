import Testing

extension Faults {
  @Suite("Names")
  struct NameFaults {
    private static let name = "server.test"

    /// Runs `body` with a bot that finds its server by a name of its own DNS, through a relay.
    private func carryOut(
      _ fault: String, on kind: Server.Kind, _ body: (FaultRun, Names, Relay) throws -> Void
    ) throws {
      if let obstacle = Names.obstacle { return FaultTable.notRun(fault, kind.rawValue, because: obstacle) }
      try FaultRun.carryOut(fault, on: kind) { run in
        let names = try Names()
        names.tell("address \(Self.name) 127.0.0.1")
        let relay = try Relay(to: run.server)
        run.bot.set("host", Self.name)
        run.bot.set("port", relay.port)
        run.bot.launcher = try names.launcher()
        for part in [names, relay] as [AnyObject] { run.keep(part) }
        try run.start()
        run.send(100)
        try run.awaitSent(30)
        names.forgetQuestions()
        try body(run, names, relay)
        run.send(50)
        try run.finish()
      }
    }

    @Test("DNS fails: the bot goes on trying, and is back with it", arguments: Faults.oneServer)
    func fails(_ kind: Server.Kind) throws {
      try carryOut("DNS fails", on: kind) { run, names, relay in
        names.tell("fail")
        try run.outage {
          relay.reset()
          try run.bot.logged("connect-failed", within: .seconds(60))
          try run.bot.logged("connect-failed", within: .seconds(60))
          names.tell("work")
        }
      }
    }

    @Test("DNS is silent: the daemon serves its operator meanwhile, and is back with it", arguments: Faults.oneServer)
    func silent(_ kind: Server.Kind) throws {
      try carryOut("DNS silent", on: kind) { run, names, relay in
        names.tell("silent")
        try run.outage {
          relay.reset()
          try names.awaitQuestion(Self.name)
          run.require(try run.bot.control("status").exit == .code(4), "status does not answer while DNS is silent")
          try run.bot.logged("connect-failed", within: .seconds(120))
          names.tell("work")
        }
      }
    }

    @Test("DNS is slow: the daemon serves its operator meanwhile, and comes online", arguments: Faults.oneServer)
    func slow(_ kind: Server.Kind) throws {
      try carryOut("DNS slow", on: kind) { run, names, relay in
        names.tell("slow 1500")
        try run.outage {
          relay.reset()
          try names.awaitQuestion(Self.name)
          run.require(try run.bot.control("status").exit == .code(4), "status does not answer while DNS is slow")
        }
      }
    }

    @Test("the server has moved: the name is resolved anew", arguments: Faults.oneServer)
    func changes(_ kind: Server.Kind) throws {
      try carryOut("DNS changes", on: kind) { run, names, relay in
        let other = try Relay(to: run.server, on: "127.0.0.2", port: relay.port)
        run.keep(other)
        names.tell("address \(Self.name) 127.0.0.2")
        try run.outage {
          relay.refuse()
          relay.reset()
        }
        // It really goes through the other one.
        try run.outage { other.reset() }
      }
    }

    @Test("DNS lies: nobody else gets the password, and the bot is back with the truth", arguments: Faults.oneServer)
    func lies(_ kind: Server.Kind) throws {
      try carryOut("DNS lies", on: kind) { run, names, relay in
        // Nobody listens there.
        names.tell("address \(Self.name) 127.0.0.3")
        try run.outage {
          relay.reset()
          try run.bot.logged("connect-failed", within: .seconds(60))
          names.tell("address \(Self.name) 127.0.0.1")
        }
      }
    }
  }
}
