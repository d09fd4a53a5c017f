import JSON
import Testing

extension SystemTests {
  @Suite("Handlers as their authors find them")
  struct HandlerTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")

    /// A bot with a copy of an example, since the checkout may be anybody's to write to.
    private func bot(on server: Server, with program: String, text: String, section: String) throws -> Bot {
      let bot = try Bot(on: server)
      try bot.scratch.write(text, to: program, mode: 0o755)
      bot.sections = "[handler it]\nexec = \(bot.scratch.file(program))\nallow = everyone\n" + section
      return try bot.startOnline()
    }

    @Test("the example in Python: replies, reactions, choices, messages of its own, and what is no command")
    func python() throws {
      let server = try Server.shared(.prosody)
      let bot = try bot(
        on: server, with: "reminder.py", text: contents(of: Self.root + "/etc/examples/reminder.py"),
        section: "commands = remind\nevents = message\nsend = everyone\n")
      let alice = try bot.peer(on: server)
      alice.send("remind 1 the tea", id: "tea")
      let reaction = try alice.event("message") { $0["xml"]?.stringValue?.contains("urn:xmpp:reactions:0") == true }
      #expect(reaction["xml"]?.stringValue?.contains("⏰") == true)
      #expect(try alice.message() == "I will remind you in 1 s.")
      #expect(try alice.message() == "Remember: the tea")
      #expect(try alice.ask("remind me") == "Usage: remind SECONDS TEXT")
      let help = try alice.ask("help")
      #expect(help.contains("toss — Toss a coin") && help.contains("remind — Remind me of something"))
      #expect(try alice.ask("toss") == "Which side?\n1. Heads\n2. Tails")
      #expect(try alice.ask("2").hasPrefix("It is "))
      #expect(try alice.ask("toss heads").hasPrefix("It is "))
      #expect(try alice.ask("Hello, bot").hasPrefix("Hello alice"))
      let status = try JSON(parsing: bot.control("status", "--json").output)
      #expect(status["handlers"]?[0]?["name"] == "it" && status["handlers"]?[0]?["running"] == true)
      #expect(try bot.control("status").output.contains("it runs"))
      let rows = try bot.rows("SELECT reacts_to, reactions, state FROM messages WHERE reacts_to IS NOT NULL")
      #expect(rows.count == 1 && rows[0]["reacts_to"] == "tea" && rows[0]["reactions"] == "⏰")
      let commands = try bot.rows("SELECT name, outcome FROM commands WHERE name = 'toss' AND outcome = 'done'")
      #expect(commands.count == 3, "each use is on record, that by a choice, too")
      #expect(try bot.stop() == .code(0))
    }

    @Test("the example in shell: a message that is corrected while others are served")
    func shell() throws {
      let server = try Server.shared(.prosody)
      let bot = try bot(
        on: server, with: "countdown.sh", text: contents(of: Self.root + "/etc/examples/countdown.sh"),
        section: "commands = countdown, load\n")
      let alice = try bot.peer(on: server)
      alice.send("countdown 2")
      #expect(try alice.message() == "2…")
      #expect(try alice.ask("load").split(separator: ",").count == 3)
      let edit = try alice.event("message") { $0["body"] == "1…" }
      #expect(edit["xml"]?.stringValue?.contains("urn:xmpp:message-correct:0") == true)
      #expect(try alice.message() == "Go!")
      #expect(try alice.ask("countdown yes") == "Usage: countdown SECONDS")
      #expect(try bot.stop() == .code(0))
    }

    /// The indented text in docs/handlers.md that begins with this line and holds `part`.
    private func shown(_ start: String, with part: String) -> String? {
      var blocks: [[Substring]] = [[]]
      for line in contents(of: Self.root + "/docs/handlers.md").split(separator: "\n", omittingEmptySubsequences: false)
      {
        if line.hasSuffix(start) { blocks.append([]) }
        let isInside = line.hasPrefix("    ") || line.isEmpty
        if isInside {
          blocks[blocks.count - 1].append(line)
        } else if blocks.last?.isEmpty == false {
          blocks.append([])
        }
      }
      guard
        let block = blocks.first(where: { $0.first?.hasSuffix(start) == true && $0.contains { $0.contains(part) } }),
        let first = block.first
      else { return nil }
      let indent = first.prefix { $0 == " " }.count
      return block.map { String($0.dropFirst(indent)) }.joined(separator: "\n") + "\n"
    }

    @Test("what the manual shows works as it stands")
    func manual() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      let greet = try #require(shown("#!/bin/sh", with: "usage: greet"))
      try bot.scratch.write(greet, to: "commands.d/welcome", mode: 0o755)
      try bot.scratch.write(
        try #require(shown("#!/usr/bin/python3", with: "import json")), to: "greeter.py", mode: 0o755)
      try bot.scratch.write(try #require(shown("#!/bin/sh", with: "while IFS=")), to: "greeter.sh", mode: 0o755)
      bot.sections = """
        [handler python]
        exec = \(bot.scratch.file("greeter.py"))
        commands = greet
        allow = everyone
        [handler shell]
        exec = \(bot.scratch.file("greeter.sh"))
        commands = hail
        allow = everyone
        """
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      #expect(try alice.ask("welcome Ada") == "Hello Ada!")
      #expect(try alice.ask("greet Ada") == "Hello Ada!")
      #expect(try alice.ask("hail") == "Hello!")
      bot.signal(15)
      #expect(try bot.exit() == .code(0))
    }
  }
}
