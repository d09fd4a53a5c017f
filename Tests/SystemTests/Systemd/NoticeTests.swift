import Testing

extension RealSystemd {
  @Suite("Units that fail")
  struct NoticeTests {
    private static let unit = "xmppbotd-test-backup.service"
    /// `%n` is the whole name of the unit that failed.
    private static let notice = "xmppbot-notify@\(unit).service"

    private func failing(on bot: InstalledBot, _ setting: String) throws {
      try bot.machine.write(
        """
        [Unit]
        OnFailure=xmppbot-notify@%n.service
        [Service]
        Type=oneshot
        ExecStart=/bin/sh -c 'echo "no space left on /backup" >&2; exit 3'
        """, to: "/run/systemd/system/\(Self.unit)")
      try bot.machine.write(
        "[Service]\n\(setting)\n", to: "/run/systemd/system/xmppbot-notify@.service.d/test.conf")
      try bot.machine.run("systemctl", "daemon-reload")
    }

    private func forget(on bot: InstalledBot) {
      _ = try? bot.machine.run("rm", "-rf", "/run/systemd/system/xmppbot-notify@.service.d")
    }

    @Test("one with OnFailure=xmppbot-notify@%n.service is told of, with the reason and its last lines")
    func told() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody)).startOnline()
      defer { forget(on: bot) }
      let alice = try bot.contact()
      try failing(on: bot, "Environment=XMPPBOT_TO=\(alice.account.jid)")
      #expect(try bot.machine.attempt("systemctl", "start", Self.unit).exit == .code(1))
      let text = try alice.message()
      let host = try bot.machine.run("hostname")
      #expect(text.hasPrefix("unit \(Self.unit) failed on \(host.dropLast()) (exit-code)\n"), "\(text)")
      #expect(text.contains("\nno space left on /backup\n"), "\(text)\(bot.situation)")
      try bot.machine.eventually("\(Self.notice) has ended well", instead: { bot.situation }) {
        let left = try bot.machine.property("InactiveEnterTimestampMonotonic", of: Self.notice)
        return left == "0" ? nil : try bot.machine.property("Result", of: Self.notice) == "success" ? true : nil
      }
    }

    @Test("nobody to be told is itself a failure, which says what to do")
    func nobody() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody)).startOnline()
      defer { forget(on: bot) }
      try failing(on: bot, "")
      #expect(try bot.machine.attempt("systemctl", "start", Self.unit).exit == .code(1))
      let notice = Self.notice
      try bot.machine.eventually("\(notice) has failed", instead: { bot.situation }) {
        try bot.machine.property("ExecMainStatus", of: notice) == "78" ? true : nil
      }
      let said = try bot.machine.journal("UNIT=\(notice)") + bot.machine.journal("_SYSTEMD_UNIT=\(notice)")
      #expect(said.contains { $0["MESSAGE"]?.stringValue?.contains("systemctl edit xmppbot-notify@.service") == true })
      try bot.machine.run("systemctl", "reset-failed")
    }
  }
}
