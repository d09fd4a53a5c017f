import Testing

@testable import JID

@Suite("PRECIS")
struct PRECISTests {
  @Test(
    "user names of RFC 8265, table 1",
    arguments: [
      ("juliet@example.com", "juliet@example.com"), ("fussball", "fussball"), ("fu\u{DF}ball", "fu\u{DF}ball"),
      ("\u{3C0}", "\u{3C0}"), ("\u{3A3}", "\u{3C3}"), ("\u{3C3}", "\u{3C3}"), ("\u{3C2}", "\u{3C2}"),
    ])
  func userName(_ text: String, _ expected: String) throws {
    #expect(try PRECIS.usernameCaseMapped(text).utf8.elementsEqual(expected.utf8))
  }

  @Test(
    "what RFC 8265, table 2 refuses as user names",
    arguments: ["foo bar", "", "henry\u{2163}", "\u{221E}"])
  func refusedUserName(_ text: String) {
    #expect(throws: PRECISError.self) { try PRECIS.usernameCaseMapped(text) }
  }

  @Test(
    "passwords of RFC 8265, table 3",
    arguments: [
      ("correct horse battery staple", "correct horse battery staple"),
      ("Correct Horse Battery Staple", "Correct Horse Battery Staple"),
      ("\u{3C0}\u{DF}\u{E5}", "\u{3C0}\u{DF}\u{E5}"), ("Jack of \u{2666}s", "Jack of \u{2666}s"),
      ("foo\u{1680}bar", "foo bar"),
    ])
  func password(_ text: String, _ expected: String) throws {
    #expect(try PRECIS.opaqueString(text).utf8.elementsEqual(expected.utf8))
  }

  @Test("what RFC 8265, table 4 refuses as passwords", arguments: ["", "my cat is a \u{9}by"])
  func refusedPassword(_ text: String) {
    #expect(throws: PRECISError.self) { try PRECIS.opaqueString(text) }
  }

  @Test("too long is refused before any work")
  func length() throws {
    let longest = String(repeating: "a", count: PRECIS.maximumBytes)
    #expect(try PRECIS.opaqueString(longest) == longest)
    #expect(throws: PRECISError.tooLong) { try PRECIS.opaqueString(longest + "a") }
    #expect(throws: PRECISError.tooLong) { try PRECIS.usernameCaseMapped(longest + "é") }
  }

  @Test(
    "contextual characters stand only where their rule allows (RFC 5892, appendix A)",
    arguments: [
      // Zero width non-joiner: behind a virama, or between joining letters.
      ("\u{915}\u{94D}\u{200C}\u{937}", true), ("\u{628}\u{200C}\u{628}", true),
      ("\u{628}\u{64B}\u{200C}\u{64B}\u{628}", true), ("a\u{200C}b", false), ("\u{200C}", false),
      ("\u{627}\u{200C}\u{628}", false), ("\u{628}\u{200C}", false),
      // Zero width joiner: behind a virama.
      ("\u{915}\u{94D}\u{200D}\u{937}", true), ("a\u{200D}b", false), ("\u{200D}", false),
      ("\u{628}\u{200D}\u{628}", false),
      // Middle dot, keraia, geresh, katakana middle dot.
      ("l\u{B7}l", true), ("a\u{B7}l", false), ("l\u{B7}", false), ("\u{375}\u{3B1}", true), ("\u{375}a", false),
      ("\u{5D0}\u{5F3}", true), ("a\u{5F3}", false), ("\u{30A2}\u{30FB}", true), ("a\u{30FB}b", false),
      // The two series of Arabic digits don't mix.
      ("\u{628}\u{660}\u{661}", true), ("\u{628}\u{6F0}\u{6F1}", true), ("\u{628}\u{660}\u{6F0}", false),
    ])
  func context(_ text: String, _ isAllowed: Bool) {
    #expect(((try? PRECIS.usernameCaseMapped(text)) != nil) == isAllowed)
    #expect(((try? PRECIS.opaqueString(text)) != nil) == isAllowed)
  }

  @Test(
    "the Bidi rule binds user names, not passwords",
    arguments: [
      ("\u{5D0}\u{5D1}", true), ("\u{5D0}1", true), ("1\u{5D0}", false), ("\u{5D0}a", false), ("a\u{5D0}", false),
      ("\u{627}\u{660}", true), ("\u{627}\u{660}1", false), ("\u{5D0}\u{5B0}", true), ("\u{5D0}-", false),
    ])
  func direction(_ text: String, _ isAllowed: Bool) throws {
    #expect(((try? PRECIS.usernameCaseMapped(text)) != nil) == isAllowed)
    #expect(try PRECIS.opaqueString(text) == text)
  }

  @Test("normalised twice is normalised once, and never holds what the profile forbids")
  func idempotent() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SplitMix(state: seed)
    var accepted = 0
    for _ in 0..<20_000 {
      let text = random.text()
      if let name = try? PRECIS.usernameCaseMapped(text) {
        accepted += 1
        #expect(try PRECIS.usernameCaseMapped(name).utf8.elementsEqual(name.utf8), "\(text.debugDescription)")
      }
      if let opaque = try? PRECIS.opaqueString(text) {
        accepted += 1
        #expect(try PRECIS.opaqueString(opaque).utf8.elementsEqual(opaque.utf8), "\(text.debugDescription)")
      }
      if let jid = try? JID("\(text)@\(random.text()).example/\(random.text())") {
        accepted += 1
        #expect(try JID(jid.description) == jid)
        #expect(try JID(local: jid.local, domain: jid.domain, resource: jid.resource) == jid)
        #expect(try JID(jid.domain) == jid.server)
      }
    }
    #expect(accepted > 1_000)
  }

  @Test("every code point is judged, and only stable results come out")
  func everyCodePoint() throws {
    for scalar in (UInt32(0)...0x2FFFF).lazy.compactMap(Unicode.Scalar.init) {
      let text = String(scalar)
      guard let name = try? PRECIS.usernameCaseMapped(text) else { continue }
      if !(try PRECIS.usernameCaseMapped(name)).utf8.elementsEqual(name.utf8) {
        Issue.record("U+\(String(scalar.value, radix: 16)) is not stable")
      }
      // An identifier is always a free-form string too.
      if (try? PRECIS.opaqueString(name)) == nil { Issue.record("U+\(String(scalar.value, radix: 16))") }
    }
  }
}

/// Steele, Lea and Flood's SplitMix64: repeatable random numbers.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// One to five characters, from the ranges where the rules differ.
  mutating func text() -> String {
    let ranges: [ClosedRange<UInt32>] = [
      0x20...0x7E, 0x61...0x7A, 0xC0...0x24F, 0x300...0x36F, 0x370...0x3FF, 0x400...0x4FF, 0x5D0...0x5EA, 0x620...0x6FF,
      0x900...0x97F, 0x1E00...0x1FFF, 0x2000...0x206F, 0x3040...0x30FF, 0xAC00...0xACFF, 0xFF00...0xFFEF,
      0x10400...0x1044F, 0x1F600...0x1F64F,
    ]
    var text = ""
    for _ in 0..<Int.random(in: 1...5, using: &self) {
      let range = ranges[Int.random(in: 0..<ranges.count, using: &self)]
      text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: range, using: &self)) ?? "x")
    }
    return text
  }
}
