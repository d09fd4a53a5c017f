import Testing

@testable import BotKit

@Suite("Long texts")
struct MessagePiecesTests {
  @Test(
    "are cut at line breaks, else between characters",
    arguments: [
      ("short", 10, ["short"]), ("one\ntwo\nthree", 8, ["one\ntwo", "three"]), ("one\ntwo", 3, ["one", "two"]),
      ("abcdef", 4, ["abcd", "ef"]), ("ééé", 5, ["éé", "é"]), ("", 5, [""]),
      ("a\u{301}a\u{301}", 4, ["a\u{301}", "a\u{301}"]), ("a\u{301}b", 2, ["a", "\u{301}", "b"]),
    ])
  func cutting(text: String, limit: Int, pieces: [String]) {
    #expect(MessagePieces.split(text, limit: limit) == pieces)
  }

  @Test("a preformatted block becomes several")
  func blocks() {
    let line = String(repeating: "x", count: 50)
    let pieces = MessagePieces.split("```\n\(line)\n\(line)\n```", limit: 70)
    #expect(pieces == ["```\n\(line)\n```", "```\n\(line)\n```"])
  }

  @Test("nothing is lost, and no piece is too long")
  func complete() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(state: seed)
    let alphabet = Array("ab\n é字🙂")
    for _ in 0..<2000 {
      let text = String(
        (0..<Int.random(in: 1...60, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) })
      let pieces = MessagePieces.split(text, limit: 12)
      #expect(pieces.allSatisfy { $0.utf8.count <= 12 }, "seed \(seed), text \(text.debugDescription)")
      #expect(
        pieces.joined().filter { $0 != "\n" } == text.filter { $0 != "\n" },
        "seed \(seed), text \(text.debugDescription)")
    }
  }
}
