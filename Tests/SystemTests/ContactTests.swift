import JSON
import Testing

extension SystemTests {
  @Suite("Contacts")
  struct ContactTests {
    @Test("whoever asks is accepted, subscribed to in turn, and put into the group", arguments: Server.Kind.allCases)
    func accepts(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server, sections: "[subscriptions]\ngroup = Friends of the bot")
      bot.set("status", "Send me: help")
      bot.set("priority", "5")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.tell("subscribe \(bot.account.jid)")
      let presence = try alice.presence("")
      #expect(presence["status"] == "Send me: help")
      #expect(presence["priority"] == 5)
      _ = try alice.event("roster") { $0["jid"]?.stringValue == bot.account.jid && $0["subscription"] == "both" }
      #expect(try alice.ask("ping") == "pong")
      let contacts = try bot.rows(
        "SELECT jid, subscription, roster_group.name AS grouped FROM roster JOIN roster_group USING (jid)")
      #expect(contacts.count == 1)
      #expect(contacts.first?["jid"]?.stringValue == alice.account.jid)
      #expect(contacts.first?["subscription"] == "both")
      #expect(contacts.first?["grouped"] == "Friends of the bot")
      #expect(try bot.stop() == .code(0))
      _ = try alice.presence("unavailable")
    }

    static let policies: [(accept: String, isAccepted: Bool)] = [
      ("none", false), ("*@localhost", true), ("*@example.org", false), ("carol@localhost", false),
    ]

    @Test("who may be a contact is as `accept` says", arguments: policies)
    func obeys(_ policy: (accept: String, isAccepted: Bool)) throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server, sections: "[subscriptions]\naccept = \(policy.accept)").startOnline()
      let alice = try bot.peer(on: server)
      alice.tell("subscribe \(bot.account.jid)")
      try bot.logged(policy.isAccepted ? "is a contact now" : "may not be a contact")
      // The refusal or the first presence.
      _ = try alice.presence(policy.isAccepted ? "" : "unsubscribed")
      #expect(try alice.ask("ping") == "pong", "a stranger is answered all the same")
      #expect(try bot.rows("SELECT jid FROM roster").count == (policy.isAccepted ? 1 : 0))
    }
  }
}
