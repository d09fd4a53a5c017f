import JID
import Testing

@Suite("domain part")
struct DomainTests {
  @Test("one final dot is dropped")
  func finalDot() throws {
    #expect(try JID("a@example.com./b").description == "a@example.com/b")
    #expect(throws: JIDError.self) { try JID("example.com..") }
    #expect(try JID("bücher.example.").domain == "bücher.example")
  }

  @Test("an ideographic full stop separates labels")
  func ideographicStop() throws {
    #expect(try JID("例え\u{3002}example").domain == "例え.example")
    #expect(try JID("例え\u{FF61}example").domain == "例え.example")
  }

  @Test("A-labels become U-labels")
  func aLabels() throws {
    #expect(try JID("xn--bcher-kva.example") == JID("BÜCHER.example"))
    #expect(try JID("XN--BCHER-KVA.example").domain == "bücher.example")
    #expect(try JID("faß.example").domain == "faß.example")
    #expect(try JID("faß.example") != JID("fass.example"))
  }

  @Test(
    "labels that IDNA2008 does not allow are refused",
    arguments: [
      "xn--abc", "xn--", "xn--a", "xn--a-ecp", "xn--55a", "xn--0", "xn--example-.com", "ab--cd.example", "-a.example",
      "a-.example", "a_b.example", "a b.example", "\u{265A}.example", "☕.example", "a\u{B7}b.example",
      "\u{2163}.example",
      "\u{308}a.example", "a\u{200D}b.example", "ü-.example", "-ü.example", "ü!.example", "ü..example", "ex%61mple.com",
      "a\u{2024}example", "xn--ﬀ.example", "b\u{FC}\0.example",
    ])
  func refused(_ domain: String) {
    #expect(throws: JIDError.self) { try JID(domain) }
  }

  @Test("a label has at most 63 bytes in ASCII, the name 253")
  func length() throws {
    let label = String(repeating: "a", count: 63)
    #expect(try JID("\(label).example").domain == "\(label).example")
    #expect(throws: JIDError.self) { try JID("a\(label).example") }
    let three = "\(label).\(label).\(label)."
    #expect(try JID(three + String(repeating: "b", count: 61)).domain.utf8.count == 253)
    #expect(throws: JIDError.self) { try JID(three + String(repeating: "b", count: 62)) }
    #expect(throws: JIDError.self) { try JID(String(repeating: "日", count: 64)) }
    let kanji = String(repeating: "日本", count: 15)
    #expect(try JID(kanji).domain == kanji)
  }

  @Test("IP literals have one form")
  func addresses() throws {
    #expect(try JID("127.0.0.1").domain == "127.0.0.1")
    #expect(try JID("a@[2001:DB8:0:0:0:0:0:1]/b").description == "a@[2001:db8::1]/b")
    #expect(try JID("[::ffff:192.0.2.1]").domain == "[::ffff:192.0.2.1]")
    #expect(try JID("[::1].").domain == "[::1]")
  }

  @Test(
    "what is nearly an IP address is refused",
    arguments: [
      "127.1", "1", "127.0.0.256", "0127.0.0.1", "127.0.0.1.5", "::1", "[::1", "[]", "[:]", "[fe80::1%lo]", "[v1.a]",
      "[127.0.0.1]", "[::1]x", "[::1\0]", "example.7", "\u{FF11}\u{FF12}",
    ])
  func notAddresses(_ domain: String) {
    #expect(throws: JIDError.self) { try JID(domain) }
  }

  @Test("a name with a right-to-left label obeys the Bidi rule in each label")
  func direction() throws {
    #expect(try JID("עברית.example").domain == "עברית.example")
    #expect(throws: JIDError.self) { try JID("1abc.עברית.example") }
    #expect(throws: JIDError.self) { try JID("1א.example") }
    #expect(throws: JIDError.self) { try JID("אa.example") }
  }
}
