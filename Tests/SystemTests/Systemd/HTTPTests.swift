import Testing

extension RealSystemd {
  @Suite("HTTP by systemd's means")
  struct HTTPTests {
    private static let token = "0b8d1f5c9e3a47d2a6c4e8f01b7d3952"

    /// The status of curl's request, and the body.
    private func curl(_ port: UInt16, _ path: String, _ arguments: String...) throws -> (status: String, body: String) {
      let output = try Program.run(
        ["/usr/bin/curl", "-sS", "--max-time", "20", "-w", "\n%{http_code}"] + arguments
          + ["http://127.0.0.1:\(port)\(path)"])
      let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
      return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    private func call(_ port: UInt16, _ text: String, token: String = token) throws -> (status: String, body: String) {
      try curl(
        port, "/hook/alerts", "-H", "Authorization: Bearer \(token)", "-H", "Content-Type: text/plain",
        "--data-binary", text)
    }

    @Test("a socket of systemd's, a token that only root can read: a call starts the bot where it does not run")
    func socket() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody))
      let port = try freePort()
      let alice = try Server.shared(.prosody).account("alice")
      try bot.configure("[http]\nlisten = systemd\n[webhook alerts]\nto = \(alice.jid)\nrate = unlimited\n")
      let file = "/etc/xmppbotd/webhook-alerts"
      try bot.machine.write(Self.token, to: file, mode: "600")
      try bot.dropIn("[Service]\nLoadCredential=webhook-alerts:\(file)\n")
      // As docs/watching.md has it, but on a port that this machine can reach, too.
      let unit = "xmppbotd-http.socket"
      try bot.machine.write(
        "[Socket]\nListenStream=127.0.0.1:\(port)\nFileDescriptorName=http\nService=xmppbotd.service\n",
        to: "/run/systemd/system/\(unit)")
      try bot.machine.run("systemctl", "daemon-reload")
      try bot.machine.run("systemctl", "start", unit)
      #expect(try bot.property("ActiveState") == "inactive")
      // The first call starts it.
      let health = try Result { try curl(port, "/healthz").status }
        .mapError { Problem("\($0)\n\(bot.situation)") }.get()
      #expect(["200", "503"].contains(health), "\(bot.situation)")
      try bot.awaitStatus("online as \(bot.account.jid)/")
      let peer = try Peer(alice, on: try Server.shared(.prosody))
      let taken = try call(port, "one")
      #expect(taken.status == "202", "\(taken)\(bot.situation)")
      #expect(try peer.message() == "one", "\(bot.situation)")
      #expect(try call(port, "no", token: "wrong").status == "401")
      let check = try bot.control("check", "--offline")
      #expect(check.exit == .code(0) && check.output.contains("systemd, 1 webhook"), "\(check.output)")

      try bot.machine.run("systemctl", "reload", bot.unit)
      #expect(try call(port, "two").status == "202", "\(bot.situation)")
      try bot.machine.run("systemctl", "stop", bot.unit)
      #expect(try call(port, "three").status == "202", "\(bot.situation)")
      #expect(try [peer.message(), peer.message()] == ["two", "three"], "\(bot.situation)")
      #expect(try curl(port, "/metrics").body.hasSuffix("# EOF\n"), "\(bot.situation)")
      let found = try bot.machine.run("journalctl", "--no-pager", "--output=export")
      #expect(!found.contains(Self.token))
      try bot.machine.run("systemctl", "stop", unit, bot.unit)
    }
  }
}
