import Testing

extension RealSystemd {
  @Suite("Boots")
  struct BootTests {
    /// A bot that is to run at every boot, and has talked with a contact.
    private func enabled(on server: Server) throws -> (InstalledBot, Peer) {
      let bot = try InstalledBot(on: server)
      try bot.machine.run("systemctl", "enable", bot.unit)
      try bot.startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping before", from: alice) == "pong before", "\(bot.situation)")
      return (bot, alice)
    }

    @Test("after a reboot it is there by itself, with its archive, and sends what had waited since before")
    func reboot() throws {
      let server = try Server.shared(.prosody)
      let (bot, alice) = try enabled(on: server)
      do {
        try server.stop()
        defer { try? server.start() }
        let queued = try bot.control("send", "--queue", alice.account.jid, "from the outbox")
        #expect(queued.exit == .code(0) || queued.exit == .code(4), "\(queued.output)")
        try bot.machine.reboot()
        try bot.machine.eventually("\(bot.unit) runs", instead: { bot.situation }) {
          try bot.property("ActiveState") == "active" ? true : nil
        }
        #expect(try bot.control("status").output.contains("1 waiting"), "\(bot.situation)")
      }
      try bot.awaitStatus("online as \(bot.account.jid)/", within: .seconds(60))
      let again = try Peer(alice.account, on: server)
      #expect(try again.message() == "from the outbox", "\(bot.situation)")
      #expect(try bot.answer(to: "search before", from: again).contains("pong before"), "\(bot.situation)")
      try bot.machine.run("systemctl", "disable", "--now", bot.unit)
    }

    @Test("after a loss of power it takes up its session, and contacts have seen nothing of it")
    func crash() throws {
      let (bot, alice) = try enabled(on: try Server.shared(.prosody))
      try bot.machine.crash()
      // Written while nobody is there to read it, or nearly so.
      alice.send("ping after", to: bot.account.jid)
      #expect(try alice.message() == "pong after", "\(bot.situation)")
      #expect(try bot.entry("online").contains("the stream was resumed"), "\(bot.situation)")
      #expect(!bot.wasSeenLeaving(by: alice), "\(bot.situation)")
      let check = try bot.control("archive", "check")
      #expect(check.exit == .code(0), "\(check.output)")
      try bot.machine.run("systemctl", "disable", "--now", bot.unit)
    }
  }
}
