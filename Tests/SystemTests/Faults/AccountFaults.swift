import Glibc
import Testing

extension Faults {
  @Suite("The account")
  struct AccountFaults {
    @Test(
      "the password is not right any more: no hammering, and nothing lost when it is", arguments: Faults.servers)
    func password(_ kind: Server.Kind) throws {
      try carryOut("wrong password", on: kind) { run, relay in
        try run.server.setPassword("another", of: run.bot.account)
        relay.reset()
        let line = try run.bot.logged("login-failed: ")
        run.require(Faults.waits(line) >= 30, "it hammers: \(line)")
        try run.awaitSent(50)
        try run.server.setPassword(run.bot.account.password, of: run.bot.account)
        // Written anew, as an operator would.
        try run.bot.scratch.write(run.bot.account.password + "\n", to: "password", mode: 0o600)
        try Faults.redial(run, 1)
      }
    }

    @Test("another client has the resource: no fight, and nothing lost in the end", arguments: Faults.servers)
    func conflict(_ kind: Server.Kind) throws {
      try carryOut("conflict", on: kind) { run, _ in
        let resource = String(run.bot.fullJID.drop { $0 != "/" }.dropFirst())
        let rival = try Peer(run.bot.account, on: run.server, resource: resource)
        let line = try run.bot.logged("conflict: ")
        run.require(Faults.waits(line) >= 120, "it fights: \(line)")
        // Meanwhile the rival gets what is for the account.
        try run.awaitSent(50)
        run.require(rival.events("disconnected").isEmpty, "the rival lost the resource")
        run.bot.set("resource", "a-resource-of-its-own")
        try run.bot.writeConfiguration()
        run.bot.signal(SIGHUP)
      }
    }

    @Test("policy-violation: no hammering, and nothing lost", arguments: Faults.servers)
    func policy(_ kind: Server.Kind) throws {
      guard kind == .prosody else {
        return FaultTable.notRun("policy-violation", kind.rawValue, because: "ejabberd can't be told to send it")
      }
      try carryOut("policy-violation", on: kind) { run, _ in
        // Where Prosody closes before it has read all of ours, TCP resets the connection, and its last word is lost.
        var line = ""
        for attempt in 1...10 where !line.contains("policy-violation") {
          if attempt > 1 {
            try run.bot.awaitOnline(within: .seconds(30))
            run.bot.forgetLog()
          }
          try run.server.endStreams(of: run.bot.account, "policy-violation")
          line = try run.bot.logged("disconnected: ")
        }
        run.require(line.contains("policy-violation"), "it did not hear of it: \(line)")
        run.require(Faults.waits(line) >= 30, "it hammers: \(line)")
        try run.awaitSent(50)
        try Faults.redial(run, 1)
      }
    }

    @Test("the account is gone: no hammering; made anew, the bot is back", arguments: Faults.servers)
    func gone(_ kind: Server.Kind) throws {
      try carryOut("account gone", on: kind) { run, _ in
        try run.settle()
        run.forgive()
        try run.server.remove(run.bot.account)
        // The stream ends with an error of the server's choice; the next login fails.
        let line = try run.bot.logged("next attempt in")
        let refused = line.contains("login-failed") || Faults.waits(line) >= 30
        if !refused {
          let next = try run.bot.logged("login-failed: ")
          run.require(Faults.waits(next) >= 30, "it hammers: \(next)")
        }
        try run.server.create(run.bot.account)
        try Faults.redial(run, 1)
      }
    }

    /// Runs `body`, in which the bot loses its stream and may come online again, in the midst of messages.
    private func carryOut(
      _ fault: String, on kind: Server.Kind, _ body: (FaultRun, Relay) throws -> Void
    ) throws {
      try FaultRun.carryOut(fault, on: kind) { run in
        let relay = try Relay(to: run.server)
        run.bot.set("port", relay.port)
        try run.start()
        run.send(150)
        try run.awaitSent(30)
        try run.outage { try body(run, relay) }
        run.send(50)
        try run.finish()
      }
    }
  }
}
