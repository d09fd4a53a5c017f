import Testing

extension RealSystemd {
  @Suite("Sockets that systemd opens")
  struct SocketTests {
    @Test("the commands' service is started by the first command, and ends with the daemon")
    func commands() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.addCommand("me", "id -un")
      try bot.startOnline()
      let alice = try bot.contact()
      let state = { try bot.machine.property("ActiveState", of: "xmppbotd-commands.service") }
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
      #expect(try state() == "inactive", "no program was needed yet")
      #expect(try bot.answer(to: "me", from: alice) == "xmppbotd-commands", "\(bot.situation)")
      #expect(try state() == "active")
      try bot.machine.run("systemctl", "stop", bot.unit)
      try bot.machine.eventually("the commands' service has ended", instead: state) {
        try state() == "inactive" ? true : nil
      }
    }

    @Test("a control socket of systemd's starts the daemon for whoever asks it something")
    func control() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody))
      let unit = "xmppbotd-control.socket"
      try bot.machine.write(
        "[Socket]\nListenStream=/run/xmppbotd-control.sock\nSocketMode=0660\nService=xmppbotd.service\n",
        to: "/run/systemd/system/\(unit)")
      try bot.machine.run("systemctl", "daemon-reload")
      try bot.machine.run("systemctl", "start", unit)
      #expect(try bot.property("ActiveState") == "inactive")
      let status = try bot.control("--socket", "/run/xmppbotd-control.sock", "status")
      #expect(status.output.contains(bot.account.jid), "\(status.output)\(bot.situation)")
      #expect(try bot.property("ActiveState") == "active", "\(bot.situation)")
      try bot.machine.run("systemctl", "stop", unit, bot.unit)
    }
  }
}
