import JSON
import Testing

extension RealSystemd {
  @Suite("The journal")
  struct JournalTests {
    @Test("what happens is in the journal with its fields, and without what people say")
    func fields() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.configure("[log]\nlevel = debug")
      try bot.addCommand("noisy", "echo a complaint >&2; exit 3")
      try bot.startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping quicksilver", from: alice) == "pong quicksilver", "\(bot.situation)")
      _ = try bot.answer(to: "noisy", from: alice)

      let received = try entry("message-received", of: bot)
      #expect(received["MESSAGE_ID"]?.stringValue == "314e1ac16292456cb895a4ca2e9dee45")
      #expect(received["PRIORITY"]?.stringValue == "7")
      #expect(received["SYSLOG_IDENTIFIER"]?.stringValue == "xmppbotd")
      #expect(received["_SYSTEMD_UNIT"]?.stringValue == "xmppbotd.service")
      #expect(received["XMPPBOT_JID"]?.stringValue == bot.account.jid)
      #expect(received["XMPPBOT_PEER"]?.stringValue == alice.account.jid)
      #expect(received["XMPPBOT_STANZA_ID"]?.stringValue?.isEmpty == false)
      let failed = try entry("command-failed", of: bot)
      #expect(failed["PRIORITY"]?.stringValue == "4")
      #expect(failed["XMPPBOT_COMMAND"]?.stringValue == "noisy")
      #expect(failed["XMPPBOT_DURATION_US"]?.stringValue.flatMap { Int($0) } ?? 0 > 0)
      let said = try entry("handler-output", of: bot)
      #expect(said["MESSAGE"]?.stringValue?.contains("a complaint") == true)
      #expect(said["XMPPBOT_COMMAND"]?.stringValue == "noisy")
      let all = try bot.machine.run("journalctl", "--no-pager", "--output=export")
      #expect(!all.contains("quicksilver"))
    }

    private func entry(_ event: String, of bot: InstalledBot) throws -> JSON {
      try bot.machine.eventually("an entry with XMPPBOT_EVENT=\(event)") {
        try bot.machine.journal("XMPPBOT_EVENT=\(event)", "XMPPBOT_JID=\(bot.account.jid)").last
      }
    }

    @Test("journalctl -x explains each entry of the daemon's, with the names that it is about")
    func explanations() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.configure("[log]\nlevel = debug")
      try bot.startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
      let invocation = "_SYSTEMD_INVOCATION_ID=\(try bot.property("InvocationID"))"
      try bot.machine.run("systemctl", "stop", bot.unit)
      try bot.machine.run("journalctl", "--sync")
      let entries = try bot.machine.journal(invocation)
      #expect(entries.count > 4, "\(bot.situation)")
      let text = try bot.machine.run("journalctl", "--no-pager", "--quiet", "--catalog", invocation)
      let subjects = text.split(separator: "\n").filter { $0.contains("Subject: ") }
      #expect(subjects.count == entries.count, "\(text)")
      #expect(subjects.contains { $0.hasSuffix("Subject: The bot is online") }, "\(text)")
      #expect(text.contains("xmppbotctl archive search --with \(alice.account.jid)"), "\(text)")
    }

    @Test("each MESSAGE_ID of the code is explained by the catalog that is in force")
    func catalog() throws {
      try InstalledBot.install()
      let source = contents(of: Repository.path("Sources/Systemd/LogEvent.swift"))
      let words: [Substring] = source.split(separator: "\"" as Character)
      let ids = words.filter { $0.count == 32 && $0.allSatisfy(\.isHexDigit) }.map { String($0) }
      #expect(ids.count > 30)
      let machine = try Machine.shared()
      let update = try machine.attempt("journalctl", "--update-catalog")
      #expect(update.exit == .code(0) && update.output == "", "journald does not like it: \(update.output)")
      let (exit, output) = try machine.attempt(["journalctl", "--no-pager", "--dump-catalog"] + ids)
      #expect(exit == .code(0), "\(output)")
      for id in ids { #expect(output.contains("-- \(id)\n"), "no entry for \(id)") }
      #expect(output.split(separator: "\n").count { $0 == "Defined-By: xmppbotd" } == ids.count)
    }
  }
}
