import Testing
import XMPPStanzas

@Suite("Date and time (XEP-0082)")
struct TimestampTests {
  @Test(
    "the forms of XEP-0082 are read",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1969-07-21T02:56:15Z", nil), ("2002-09-10T23:08:25Z", 1_031_699_305_000_000),
      ("2002-09-10T23:08:25.5Z", 1_031_699_305_500_000), ("2002-09-10T23:08:25.123456789Z", 1_031_699_305_123_456),
      ("2002-09-11T01:08:25+02:00", 1_031_699_305_000_000), ("2002-09-10T17:38:25-05:30", 1_031_699_305_000_000),
      ("2024-02-29T12:00:00Z", 1_709_208_000_000_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
      ("9998-12-31T23:59:59Z", 253_370_764_799_000_000),
    ] as [(String, Int64?)])
  func reads(_ text: String, _ stamp: Int64?) {
    #expect(Timestamp.parse(text) == stamp)
  }

  @Test(
    "what is no time, or none that an honest sender has (CVE-2013-6477), is not read",
    arguments: [
      "", "2002", "2002-09-10", "2002-09-10T23:08:25", "2002-09-10 23:08:25Z", "20020910T23:08:25",
      "0000-00-00T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "-2002-09-10T23:08:25Z",
      "12002-09-10T23:08:25Z", "2002-13-10T23:08:25Z", "2002-00-10T23:08:25Z", "2002-02-29T23:08:25Z",
      "1900-02-29T00:00:00Z", "2002-09-31T23:08:25Z", "2002-09-00T23:08:25Z", "2002-09-10T24:00:00Z",
      "2002-09-10T23:60:00Z", "2002-09-10T23:08:61Z", "2002-09-10T23:08:25Zx", "2002-09-10T23:08:25+24:00",
      "2002-09-10T23:08:25+0200", "2002-09-10T23:08:25*02:00", "２００２-09-10T23:08:25Z", "2002-09-10T23:08:25.x",
      "+2002-09-1T23:08:25Z", "\u{0}\u{0}\u{0}\u{0}-09-10T23:08:25Z",
    ])
  func refuses(_ text: String) {
    #expect(Timestamp.parse(text) == nil)
  }

  @Test("a million nines behind the point are no more than six")
  func longFraction() {
    let text = "1970-01-01T00:00:00." + String(repeating: "9", count: 1_000_000) + "Z"
    #expect(Timestamp.parse(text) == 999_999)
  }

  @Test("what is written is read again, to the microsecond")
  func roundTrip() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(state: seed)
    for _ in 0..<10_000 {
      let stamp = Int64.random(in: 0...253_370_764_799_999_999, using: &generator)
      let text = Timestamp.format(stamp)
      #expect(Timestamp.parse(text) == stamp, "\(text), seed \(seed)")
      #expect(
        Timestamp.parse(Timestamp.format(stamp, wholeSeconds: true)) == stamp / 1_000_000 * 1_000_000, "seed \(seed)")
    }
  }

  @Test(
    "what is written has the form of XEP-0082, before 1970, too",
    arguments: [
      (1_000_000_000_000_000, "2001-09-09T01:46:40.000000Z"), (0, "1970-01-01T00:00:00.000000Z"),
      (-1, "1969-12-31T23:59:59.999999Z"), (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
    ] as [(Int64, String)])
  func writes(_ stamp: Int64, _ text: String) {
    #expect(Timestamp.format(stamp) == text)
  }
}

/// Small, and the same for the same seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
