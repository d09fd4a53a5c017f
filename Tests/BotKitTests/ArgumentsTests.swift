import Testing

@testable import BotKit

@Suite("Arguments")
struct ArgumentsTests {
  @Test(
    "are split as a shell splits them",
    arguments: [
      ("", []),
      ("  \t\n ", []),
      ("web 1.2", ["web", "1.2"]),
      ("  web   1.2  ", ["web", "1.2"]),
      (#""two words" 'and three more'"#, ["two words", "and three more"]),
      (#"a"b c"'d e'f"#, ["ab cd ef"]),
      (#"'' "" x"#, ["", "", "x"]),
      (#"two\ words \"quoted\" \\"#, ["two words", "\"quoted\"", "\\"]),
      (#"'a\b' "a\b" "a\"b" "a\\b" "\$x""#, ["a\\b", "a\\b", "a\"b", "a\\b", "$x"]),
      ("one\\\ntwo \"three\\\nfour\" 'five\nsix'", ["onetwo", "threefour", "five\nsix"]),
      (#"ends in \"#, ["ends", "in", "\\"]),
      ("全角\u{3000}空白 a\u{a0}b", ["全角", "空白", "a", "b"]),
    ])
  func splitting(text: String, expected: [String]) throws {
    #expect(try Arguments.split(text[...]) == expected)
  }

  @Test("are never expanded")
  func noExpansion() throws {
    let text = "$HOME $(id) `id` *.txt ~ a;b a|b a&&b >file {1,2} !x #y"
    #expect(try Arguments.split(text[...]) == text.split(separator: " ").map(String.init))
  }

  @Test("an unclosed quote is told", arguments: [(#"say "hello"#, "\""), ("it's", "'"), (#""ends in \"#, "\"")])
  func unclosed(text: String, quote: Character) {
    #expect(throws: Arguments.UnclosedQuote(quote: quote)) { try Arguments.split(text[...]) }
  }

  @Test("any text whatever is split or refused, and what was split and quoted again splits the same")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(state: seed)
    let alphabet = Array(" \t\n'\"\\ab$é字\u{3000}")
    for _ in 0..<5000 {
      let text = String(
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? " " })
      guard let words = try? Arguments.split(text[...]) else { continue }
      let quoted = words.map {
        "'" + $0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
      }
      #expect(
        try Arguments.split(quoted.joined(separator: " ")[...]) == words, "seed \(seed), text \(text.debugDescription)")
    }
  }
}

/// A small generator with a seed (SplitMix64).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
