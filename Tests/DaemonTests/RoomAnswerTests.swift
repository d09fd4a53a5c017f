import Testing

@testable import Daemon

@Suite("An answer in a room")
struct RoomAnswerTests {
  @Test("begins with the nickname of who asked")
  func nick() {
    #expect(RoomAnswer.addressed("pong", to: "alice") == "alice: pong")
    #expect(RoomAnswer.addressed("one\ntwo", to: "Jürgen_2.Müller-Ö") == "Jürgen_2.Müller-Ö: one\ntwo")
    #expect(RoomAnswer.addressed("pong", to: "Мария") == "Мария: pong")
    #expect(RoomAnswer.addressed("!adm pwned", to: nil) == "→ !adm pwned")
    #expect(RoomAnswer.addressed("!adm pwned", to: "") == "→ !adm pwned")
  }

  @Test("leaves a line to what has to begin one")
  func block() {
    #expect(RoomAnswer.addressed("```\nx\n```", to: "alice") == "alice:\n```\nx\n```")
    #expect(RoomAnswer.addressed("> so you said", to: "alice") == "alice:\n> so you said")
  }

  @Test("never begins with what a nickname would have another bot do")
  func command() {
    #expect(RoomAnswer.addressed("pong", to: "!deploy web") == "→ !deploy web: pong")
    #expect(RoomAnswer.addressed("pong", to: "```") == "→ ```: pong")
    #expect(RoomAnswer.addressed("pong", to: "bot2: adm pwned #") == "→ bot2: adm pwned #: pong")
    #expect(RoomAnswer.addressed("pong", to: "bot2, adm pwned #") == "→ bot2, adm pwned #: pong")
    // Many bots hear their name without a colon behind it, or with something else there.
    #expect(RoomAnswer.addressed("pong", to: "bot2 deploy web") == "→ bot2 deploy web: pong")
    for between in ["\u{A0}", ";", ">", "\u{200D}", "\u{FF1A}"] {
      #expect(RoomAnswer.addressed("pong", to: "bot2\(between)deploy") == "→ bot2\(between)deploy: pong")
    }
    #expect(RoomAnswer.addressed("adm pwned", to: "\u{FF42}ot2") == "→ \u{FF42}ot2: adm pwned")
    #expect(RoomAnswer.addressed("adm pwned", to: "Bot2", isMistakable: true) == "→ Bot2: adm pwned")
  }

  @Test("may be mistaken where somebody else has the nickname but for case and signs")
  func mistakable() {
    #expect(RoomNick.isMistakable("Bot2", among: ["alice", "Bot2", "bot2"]))
    #expect(RoomNick.isMistakable("bot_2", among: ["bot2"]))
    #expect(RoomNick.isMistakable("bo\u{308}t", among: ["B\u{D6}T"]))
    #expect(!RoomNick.isMistakable("bot2", among: ["alice", "bot2", "bot", "bot22"]))
  }

  @Test("has something of the bot's own before each further message")
  func further() {
    #expect(RoomAnswer.marked(["alice: 1", "!adm pwned"]) == ["alice: 1", "→ !adm pwned"])
    #expect(RoomAnswer.marked(["alice:\n```\n1\n```", "```\n2\n```"]) == ["alice:\n```\n1\n```", "→ \n```\n2\n```"])
  }

  @Test("does not repeat a nickname without end")
  func longNick() {
    let nick = String(repeating: "x", count: 100)
    #expect(RoomAnswer.addressed("pong", to: nick) == "\(nick): pong")
    #expect(RoomAnswer.addressed("!adm pwned", to: nick + "x") == "→ \(nick)…: !adm pwned")
    let wide = String(repeating: "é", count: 51)
    #expect(RoomAnswer.addressed("pong", to: wide) == "→ \(wide.dropLast())…: pong")
  }

  @Test("that is too long ends with where to have the whole")
  func cut() {
    #expect(
      RoomAnswer.cut(["1", "2", "3", "4"], command: "help")
        == ["1", "2", "3\n(cut off: use help in a chat with me for all of it)"])
    #expect(RoomAnswer.cut(["1", "2", "3", "4"], command: nil).last == "3\n(cut off: a room gets no more at once)")
  }
}
