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

  @Test("a piece is as long as it is as XML, where & < > take more")
  func escapes() {
    let text = String(repeating: "<&>x", count: 100)
    let pieces = MessagePieces.split(text, limit: 140)
    #expect(pieces.count == 10 && pieces.joined() == text)
    #expect(pieces.allSatisfy { MessagePieces.size($0) <= 140 })
  }

  @Test("a block in the midst of a text is closed where the text is cut, and opened again behind that")
  func blockInside() {
    let lines = (10..<40).map { "line \($0)" }
    let pieces = MessagePieces.split("before\n```\n\(lines.joined(separator: "\n"))\n```\nafter", limit: 100)
    #expect(pieces.first?.hasPrefix("before\n```\nline 10\n") == true)
    #expect(pieces.dropFirst().allSatisfy { $0.hasPrefix("```\nline ") || $0 == "after" })
    #expect(pieces.last?.hasSuffix("after") == true)
    #expect(pieces.flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("line") }.map(String.init) == lines)
    for piece in pieces { #expect(piece.split(separator: "\n").count { $0 == "```" } % 2 == 0, "\(piece)") }
  }

  @Test("no piece ends with the line that opens a block, and none begins with its end")
  func edges() {
    let before = String(repeating: "a", count: 90)
    #expect(MessagePieces.split(before + "\n```\nx\n```", limit: 99) == [before, "```\nx\n```"])
    let inside = String(repeating: "b", count: 91)
    #expect(MessagePieces.split("```\n\(inside)\n```\nc", limit: 99) == ["```\n\(inside)\n```", "c"])
  }

  @Test("whatever a program prints, it does not get out of its block, in no piece")
  func breakingOut() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(state: seed)
    let alphabet = ["`", "``", "```", "\n", "\n", "x", " ", "<", "é"]
    for _ in 0..<500 {
      let printed = OutputText.clean(
        (0..<Int.random(in: 1...120, using: &generator)).flatMap { _ in
          Array((alphabet.randomElement(using: &generator) ?? "").utf8)
        })
      for piece in MessagePieces.split(OutputText.block(printed), limit: 70) {
        let lines = piece.split(separator: "\n", omittingEmptySubsequences: false)
        let ends = lines.indices.filter { lines[$0] == "```" }
        #expect(
          lines.first == "```" && ends == [0, lines.count - 1] && MessagePieces.size(piece) <= 70,
          "seed \(seed), printed \(printed.debugDescription), piece \(piece.debugDescription)")
      }
    }
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
