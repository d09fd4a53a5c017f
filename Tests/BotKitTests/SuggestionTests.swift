import Testing

@testable import BotKit

@Suite("Did you mean")
struct SuggestionTests {
  let commands = ["deploy", "help", "ping", "search", "status", "whoami"]

  @Test(
    "the nearest name is found",
    arguments: [
      ("pnig", "ping"), ("pin", "ping"), ("pingg", "ping"), ("pong", "ping"), ("!help", "help"), ("hlep", "help"),
      ("sttaus", "status"), ("depoly", "deploy"), ("who", nil), ("x", nil), ("weather", nil), ("", nil),
    ] as [(String, String?)])
  func nearest(word: String, expected: String?) {
    #expect(Suggestion.nearest(to: word, among: commands) == expected)
  }

  @Test("a word of three characters is not bent into another word of three")
  func short() {
    #expect(Suggestion.nearest(to: "yes", among: ["say", "set"]) == nil)
  }

  @Test("distances count one for a swap of neighbours")
  func distances() {
    #expect(Suggestion.distance(Array("ab"), Array("ba")) == 1)
    #expect(Suggestion.distance(Array("kitten"), Array("sitting")) == 3)
    #expect(Suggestion.distance([], Array("abc")) == 3)
    #expect(Suggestion.distance(Array("same"), Array("same")) == 0)
  }
}
