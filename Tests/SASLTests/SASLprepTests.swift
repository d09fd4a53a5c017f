import Crypto
import Testing

@testable import SASL

@Suite("SASLprep")
struct SASLprepTests {
  private func prepare(_ text: String) throws(SASLFailure) -> String {
    try SASLprep.prepare(SecretBytes(text.utf8), as: .password).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    "the examples of RFC 4013 section 3, and more",
    arguments: [
      ("I\u{AD}X", "IX"), ("user", "user"), ("USER", "USER"), ("\u{AA}", "a"), ("\u{2168}", "IX"),
      ("a\u{A0}b\u{3000}c", "a b c"), ("e\u{301}", "\u{E9}"), ("\u{FB01}", "fi"), ("\u{FF21}", "A"),
      ("pass \u{1F600} word", "pass \u{1F600} word"), ("\u{627}\u{31}\u{628}", "\u{627}\u{31}\u{628}"),
      (" !~", " !~"),
    ])
  func examples(text: String, expected: String) throws {
    // By bytes: String's own equality would take all canonical equivalents for the same.
    #expect(Array(try prepare(text).utf8) == Array(expected.utf8))
  }

  @Test(
    "what is prohibited is refused",
    arguments: [
      "", "\u{7}", "a\u{7F}", "\u{E9}\u{7}", "\u{E000}é", "\u{627}\u{31}", "\u{627}a\u{628}", "\u{AD}", "é\u{200E}",
      "\u{E0001}",
      "a\0b", "\u{FFFD}",
    ])
  func prohibited(text: String) {
    #expect(throws: SASLFailure.self) { try prepare(text) }
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0xC3]] as [[UInt8]])
  func invalid(bytes: [UInt8]) {
    #expect(throws: SASLFailure.unusable(.password, reason: "is not valid UTF-8")) {
      try SASLprep.prepare(SecretBytes(bytes), as: .password)
    }
  }

  @Test("the tables are those of RFC 3454 for every code point, as Python's stringprep has them")
  func tables() {
    let kinds = (UInt32(0)...0x10FFFF).map { scalar -> UInt8 in
      if SASLprep.isSpace(scalar) { return 1 }
      if SASLprep.isIgnored(scalar) { return 2 }
      return SASLprep.isProhibited(scalar) ? 3 : 0
    }
    #expect(
      Hex.encode(Hash.digest(.sha256, kinds)) == "4c8ef124794faebc2a345de1fe26abd0e48b4b9b8deaeb698a89df8351391406")
  }
}
