import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("A conversation")
  struct ConversationTests {
    @Test("the bot answers what it can, and the archive has both sides", arguments: Server.Kind.allCases)
    func answers(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      try bot.addCommand("words", "# description: Shows its arguments\n# allow: everyone\nprintf '[%s]' \"$@\"")
      try bot.startOnline()
      let alice = try bot.peer(on: server)

      #expect(try alice.ask("ping") == "pong")
      #expect(try alice.ask("ping hello") == "pong hello")
      let help = try alice.ask("help")
      #expect(help.contains("ping — ") && help.contains("words — Shows its arguments"))
      #expect(!help.contains("reload"), "for administrators only")
      #expect(try alice.ask("whoami").contains(alice.account.jid))
      #expect(try alice.ask("status").hasPrefix("Online for "))
      #expect(try alice.ask("pnig").contains("Did you mean ping?"))
      #expect(try alice.ask("reload").contains("not allowed"))
      #expect(
        try alice.ask(#"words one "two and" 'th"ree' fo\ ur $HOME `id`"#)
          == #"[one][two and][th"ree][fo ur][$HOME][`id`]"#)
      #expect(try alice.ask("search hello").contains("ping hello"))

      let rows = try bot.rows(
        "SELECT direction, state, body FROM message WHERE peer = '\(alice.account.jid)' ORDER BY id")
      #expect(rows.count == 18)
      let directions = rows.map { $0["direction"]?.stringValue }
      #expect(directions == (0..<9).flatMap { _ in ["in", "out"] })
      #expect(rows.allSatisfy { $0["state"]?.stringValue == ($0["direction"] == "in" ? "received" : "sent") })
      #expect(rows[2]["body"] == "ping hello" && rows[3]["body"] == "pong hello")
    }

    @Test("while a command runs the contact sees that the bot types", arguments: Server.Kind.allCases)
    func typing(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let gate = bot.scratch.file("gate")
      mkfifo(gate, 0o600)
      try bot.addCommand("wait", "# allow: everyone\nread -r word <\(gate)\necho \"$word\"")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.send("wait")
      _ = try alice.event("message") { $0["chatstate"] == "composing" && $0["body"] == "" }
      #expect(try alice.ask("ping") == "pong", "others are served meanwhile")
      try bot.scratch.write("done\n", to: "gate")
      #expect(try alice.message() == "done")
    }

    @Test("a command written in Swift, in a program of its own")
    func swiftCommand() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      bot.executable = "example-bot"
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      #expect(try alice.ask("dice 20").hasSuffix(" of 20."))
      #expect(try alice.ask("dice many") == "Usage: dice [SIDES]")
      #expect(try alice.ask("ping") == "pong")
    }

    @Test("no answer to an error, to what was answered before, or to what is old", arguments: Server.Kind.allCases)
    func silent(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      try bot.addCommand("touch", "# allow: everyone\n/usr/bin/touch \(bot.scratch.file("ran"))")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      let jid = bot.account.jid
      // To the full address: a server keeps an error that is for the account to itself.
      alice.tell("raw <message type='error' to='\(bot.fullJID)' id='e1'><body>ping error</body></message>")
      alice.tell("raw <message type='headline' to='\(jid)' id='e2'><body>ping headline</body></message>")
      #expect(try alice.ask("ping first") == "pong first")
      for _ in 0..<2 {
        alice.tell("raw <message type='chat' to='\(jid)' id='twice'><body>ping twice</body></message>")
      }
      #expect(try alice.message() == "pong twice")
      #expect(try alice.ask("ping second") == "pong second")
      alice.tell(
        "raw <message type='chat' to='\(jid)' id='old'><body>touch</body>"
          + "<delay xmlns='urn:xmpp:delay' stamp='2020-02-02T20:20:20Z'/></message>")
      #expect(try alice.message().contains("too late"))
      #expect(contents(of: bot.scratch.file("log")).contains("command-run") == false)
      #expect(access(bot.scratch.file("ran"), F_OK) != 0, "it was not run")
      let kept = try bot.rows("SELECT DISTINCT message_id FROM message WHERE message_id IN ('e1', 'twice', 'old')")
      #expect(kept.count == 3)
    }

    @Test("what was sent while the bot was away is answered when it comes, once", arguments: Server.Kind.allCases)
    func away(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let alice = try bot.peer(on: server)
      alice.send("ping while away")
      // Its answer says that the server has what was sent before.
      alice.tell("ping \(server.domain)")
      _ = try alice.event("iq") { $0["query"] == "ping" }
      try bot.startOnline()
      #expect(try alice.message() == "pong while away")
      #expect(try bot.stop() == .code(0))
      try bot.startOnline()
      #expect(try alice.ask("ping now") == "pong now")
      let rows = try bot.rows("SELECT delay IS NOT NULL AS delayed FROM message WHERE body = 'ping while away'")
      #expect(rows == [["delayed": 1]])
    }

    @Test("the archive is searched in any script, by two characters of Chinese and without accents")
    func search() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      for text in ["ping 我们明天去北京开会", "ping Übung macht den Meister", "ping Ёлка зелёная"] {
        #expect(try alice.ask(text) == text.replacingPrefix("ping", with: "pong"))
      }
      #expect(try alice.ask("search 北京").contains("我们明天去北京开会"))
      #expect(try alice.ask("search ubung").contains("Übung macht den Meister"))
      #expect(try alice.ask("search ЕЛКА").contains("Ёлка зелёная"))
      #expect(try alice.ask("search nowhere").contains("Nothing found"))
      let mallory = try bot.peer(on: server)
      #expect(try mallory.ask("search 北京").contains("Nothing found"), "only one's own conversation")
    }
  }
}

extension String {
  func replacing(_ part: String, with other: String) -> String {
    split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
  }

  func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}
