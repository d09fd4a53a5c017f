import Glibc
import Testing

extension Faults {
  @Suite("Floods")
  struct FloodFaults {
    /// What memory may grow to at the peak of a flood, in KiB: the limits of what waits for the archive and for the
    /// server, and the allocator's spare pages.
    private static let peak = 48 * 1_024
    /// A ping stands in line behind what the server has taken in for the bot before it.
    private static let patience = Duration.seconds(Faults.size(60, 900))

    @Test(
      "messages as fast as the server takes them: all archived and answered, in bounded memory",
      arguments: Faults.servers)
    func messages(_ kind: Server.Kind) throws {
      let count = Faults.size(600, 100_000)
      // More commands at once than the flood brings: whoever exceeds the limit is refused, and told so once.
      try FaultRun.carryOut("flood of \(count) messages", on: kind, concurrent: 300) { run in
        try run.start()
        let alice = try befriended(run)
        run.send(count, rate: 0, says: 20)
        for part in 1...4 {
          try run.contact.waitUntil("part \(part) of the flood is sent", within: .seconds(1_800)) {
            $0.sent.count >= count * part / 4
          }
          run.require(try isServed(alice), "no answer to a ping in the midst of it")
        }
        try run.settle(.seconds(60))
        judgePeak(run)
        try run.finish(growth: 16 * 1_024)
      }
    }

    static let stanzas: [(name: String, xml: String)] = [
      ("presences", "<presence to='BOT'><status>{n}</status></presence>"),
      ("subscriptions", "<presence to='BOT' type='subscribe' id='s{n}'/>"),
      ("unsubscriptions", "<presence to='BOT' type='unsubscribe' id='u{n}'/>"),
      ("queries", "<iq to='FULL' type='get' id='q{n}'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>"),
      (
        "typing notices",
        "<message to='BOT' type='chat'><composing xmlns='http://jabber.org/protocol/chatstates'/></message>"
      ),
      ("errors", "<message to='FULL' type='error' id='e{n}'><error type='cancel'/></message>"),
    ]

    @Test("presences, subscriptions, queries: others are served, in bounded memory", arguments: Faults.servers)
    func others(_ kind: Server.Kind) throws {
      let count = Faults.size(300, 20_000)
      try FaultRun.carryOut("floods of \(count) others", on: kind) { run in
        try run.start()
        let alice = try befriended(run)
        let flooder = try Contact(run.server.account("flooder"), on: run.server, talkingTo: run.bot.account)
        for (name, xml) in Self.stanzas {
          run.send(20)
          try flooder.repeat(
            count, xml.replacing("BOT", with: run.bot.account.jid).replacing("FULL", with: run.bot.fullJID),
            within: .seconds(600))
          run.require(try isServed(alice), "no answer to a ping after \(name)")
          try run.settle(.seconds(60))
        }
        judgePeak(run)
        try run.finish(growth: 16 * 1_024)
      }
    }

    /// The bot answers a ping. ejabberd ends a session that does not confirm 5,000 stanzas at once, and then answers itself until
    /// the bot is back.
    private func isServed(_ contact: Peer) throws -> Bool {
      let deadline = Deadline(after: .seconds(30))
      while try contact.query("ping", within: Self.patience)["type"] != "result" {
        if deadline.hasPassed { return false }
        _ = Deadline(after: .milliseconds(250)).awaitReadable([])
      }
      return true
    }

    /// A contact that may ask for the bot's presence, so that its pings reach the bot.
    private func befriended(_ run: FaultRun) throws -> Peer {
      let alice = try Peer(
        run.server.account("alice"), on: run.server, talkingTo: run.bot, patience: Self.patience)
      alice.tell("subscribe \(run.bot.account.jid)")
      _ = try alice.presence("")
      return alice
    }

    private func judgePeak(_ run: FaultRun) {
      guard let pid = run.bot.program?.pid else { return }
      let line = contents(of: "/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      let highest = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      run.require(highest < Self.peak, "memory rose to \(highest) KiB, more than \(Self.peak)")
    }
  }
}
