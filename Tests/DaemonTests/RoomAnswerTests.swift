import Testing

@testable import Daemon

@Suite("An answer in a room")
struct RoomAnswerTests {
  @Test("begins with the nickname of who asked")
  func nick() {
    #expect(RoomAnswer.addressed("pong", to: "alice") == "alice: pong")
    #expect(RoomAnswer.addressed("one\ntwo", to: "Ö. Müller") == "Ö. Müller: one\ntwo")
    #expect(RoomAnswer.addressed("pong", to: nil) == "pong")
    #expect(RoomAnswer.addressed("pong", to: "") == "pong")
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
  }

  @Test("does not repeat a nickname without end")
  func longNick() {
    #expect(RoomAnswer.addressed("pong", to: String(repeating: "x", count: 101)) == "pong")
  }

  @Test("that is too long ends with where to have the whole")
  func cut() {
    #expect(
      RoomAnswer.cut(["1", "2", "3", "4"], command: "help")
        == ["1", "2", "3\n(cut off: use help in a chat with me for all of it)"])
    #expect(RoomAnswer.cut(["1", "2", "3", "4"], command: nil).last == "3\n(cut off: a room gets no more at once)")
  }
}
