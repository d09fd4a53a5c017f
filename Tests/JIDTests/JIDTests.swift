import JID
import Testing

@Suite("JID")
struct JIDTests {
  struct Example: Sendable, CustomStringConvertible {
    let text: String
    let local: String?
    let domain: String
    let resource: String?
    init(_ text: String, _ local: String?, _ domain: String, _ resource: String?) {
      (self.text, self.local, self.domain, self.resource) = (text, local, domain, resource)
    }
    var description: String { text }
  }

  @Test(
    "the valid examples of RFC 7622, table 1",
    arguments: [
      Example("juliet@example.com", "juliet", "example.com", nil),
      Example("juliet@example.com/foo", "juliet", "example.com", "foo"),
      Example("juliet@example.com/foo bar", "juliet", "example.com", "foo bar"),
      Example("juliet@example.com/foo@bar", "juliet", "example.com", "foo@bar"),
      Example("foo\\20bar@example.com", "foo\\20bar", "example.com", nil),
      Example("fussball@example.com", "fussball", "example.com", nil),
      Example("fu\u{DF}ball@example.com", "fu\u{DF}ball", "example.com", nil),
      Example("\u{3C0}@example.com", "\u{3C0}", "example.com", nil),
      Example("\u{3A3}@example.com/foo", "\u{3C3}", "example.com", "foo"),
      Example("\u{3C3}@example.com/foo", "\u{3C3}", "example.com", "foo"),
      Example("\u{3C2}@example.com/foo", "\u{3C2}", "example.com", "foo"),
      Example("king@example.com/\u{265A}", "king", "example.com", "\u{265A}"),
      Example("example.com", nil, "example.com", nil),
      Example("example.com/foobar", nil, "example.com", "foobar"),
      Example("a.example.com/b@example.net", nil, "a.example.com", "b@example.net"),
      // In table 2 by mistake, says erratum 4560: OpaqueString allows a leading space.
      Example("juliet@example.com/ foo", "juliet", "example.com", " foo"),
    ])
  func validExample(_ example: Example) throws {
    let jid = try JID(example.text)
    #expect(jid.local == example.local)
    #expect(jid.domain == example.domain)
    #expect(jid.resource == example.resource)
    #expect(jid.isFull == (example.resource != nil))
    #expect(jid.isBare == (example.resource == nil))
    #expect(try JID(local: example.local, domain: example.domain, resource: example.resource) == jid)
  }

  @Test(
    "the invalid examples of RFC 7622, table 2, name the part at fault",
    arguments: [
      ("\"juliet\"@example.com", JIDError.Part.local), ("foo bar@example.com", .local), ("@example.com/", .local),
      ("henry\u{2163}@example.com", .local), ("\u{265A}@example.com", .local), ("juliet@", .domain),
      ("/foobar", .domain),
    ])
  func invalidExample(_ text: String, _ part: JIDError.Part) {
    #expect { try JID(text) } throws: { ($0 as? JIDError)?.part == part }
  }

  @Test("the first slash ends the bare address, then the first at sign ends the local part")
  func separators() throws {
    #expect(throws: JIDError.self) { try JID("a@b@c/d@e/f") }
    let jid = try JID("a@b/c@d/e@f/")
    #expect((jid.local, jid.domain, jid.resource) == ("a", "b", "c@d/e@f/"))
    #expect(try JID("b/c@d").local == nil)
  }

  @Test("no part may be empty", arguments: ["", "@", "/", "a@", "@b", "b/", "@b/c", "a@/c", ".", "a@.", "a..b", ".a"])
  func emptyPart(_ text: String) {
    #expect(throws: JIDError.self) { try JID(text) }
    #expect(throws: JIDError.self) { try JID(local: "", domain: "b", resource: nil) }
    #expect(throws: JIDError.self) { try JID(local: nil, domain: "b", resource: "") }
  }

  @Test("case folds in local and domain part, never in the resource")
  func letterCase() throws {
    #expect(try JID("Juliet@EXAMPLE.Com/Balcony").description == "juliet@example.com/Balcony")
    #expect(try JID("ÄÖ@Ärger.example/Ä").description == "äö@ärger.example/Ä")
  }

  @Test("full-width letters are the ordinary ones, but full-width separators are not separators")
  func fullWidth() throws {
    #expect(try JID("\u{FF2A}\u{FF55}@\u{FF45}xample\u{FF0E}com").description == "ju@example.com")
    #expect(throws: JIDError.self) { try JID("a\u{FF20}b@example.com") }
    #expect(throws: JIDError.self) { try JID("a\u{FF0F}b@example.com") }
    #expect(throws: JIDError.self) { try JID("a@b\u{FF0F}c") }
    #expect(throws: JIDError.self) { try JID("a\u{FF20}b") }
    #expect(try JID("b/\u{FF21}").resource == "\u{FF21}")
  }

  @Test("homoglyphs stay distinct")
  func homoglyphs() throws {
    #expect(try JID("p\u{430}ypal@example.com") != JID("paypal@example.com"))
    #expect(try JID("admin\u{131}@example.com") != JID("admini@example.com"))
  }

  @Test("composed and decomposed are one address, by bytes")
  func composition() throws {
    let composed = try JID("caf\u{E9}@b\u{FC}cher.example/\u{E9}")
    let decomposed = try JID("cafe\u{301}@bu\u{308}cher.example/e\u{301}")
    #expect(composed == decomposed)
    #expect(composed.hashValue == decomposed.hashValue)
    #expect(Array(composed.description.utf8) == Array(decomposed.description.utf8))
  }

  @Test("eight characters are forbidden in the local part", arguments: ["\"", "&", "'", "/", ":", "<", ">", "@"])
  func forbiddenLocal(_ character: String) {
    #expect(throws: JIDError.self) { try JID(local: "a\(character)b", domain: "example.com", resource: nil) }
    #expect(throws: JIDError.self) { try JID(local: "é\(character)b", domain: "example.com", resource: nil) }
  }

  @Test(
    "control characters, spaces, invisible and unassigned characters are refused",
    arguments: [
      "a\0b@c", "a@b\0c", "a@b/\0", "a@b/c\nd", "a\tb@c", "a\u{7F}@c", "a\u{A0}b@c", "a\u{200B}b@c", "a@b/x\u{200B}",
      "a\u{AD}b@c", "a\u{2010}b@c", "a\u{2028}@c", "a@b/\u{2029}", "a\u{FEFF}@c", "a@b/\u{FFFE}", "a@b/\u{378}",
      "a@b/\u{E000}", "a@b/\u{202E}gpj", "a\u{FE0F}@b", "a\u{1100}@b", "a@b c", "a@b_c", "a@b/\u{85}",
    ])
  func refusedCharacters(_ text: String) {
    #expect(throws: JIDError.self) { try JID(text) }
  }

  @Test("each part has at most 1023 bytes")
  func length() throws {
    let long = String(repeating: "x", count: 1023)
    let domain = "example.com"
    #expect(try JID("\(long)@\(domain)/\(long)").local == long)
    #expect(throws: JIDError(part: .local, reason: "is longer than 1023 bytes")) { try JID("x\(long)@\(domain)") }
    #expect(throws: JIDError(part: .resource, reason: "is longer than 1023 bytes")) { try JID("\(domain)/x\(long)") }
    #expect(throws: JIDError.self) { try JID("\(long)@\(long)/\(long)") }
    let wide = String(repeating: "\u{FF58}", count: 1023)
    #expect(try JID("\(wide)@\(domain)").local == long)
    #expect(throws: JIDError.self) { try JID("\(wide)\u{FF58}@\(domain)") }
    #expect(throws: JIDError.self) { try JID(String(repeating: "é", count: 1 << 20)) }
    let accents = String(repeating: "é", count: 512)
    #expect(throws: JIDError(part: .local, reason: "is longer than 1023 bytes")) { try JID("\(accents)@\(domain)") }
  }

  @Test("with and bare change the resource alone")
  func resource() throws {
    let jid = try JID("romeo@example.net/orchard")
    #expect(try jid.bare == JID("romeo@example.net"))
    #expect(jid.bare.bare == jid.bare)
    #expect(try jid.with(resource: "e\u{301}").description == "romeo@example.net/\u{E9}")
    #expect(try jid.with(resource: "a/b@c").resource == "a/b@c")
    #expect(throws: JIDError.self) { try jid.with(resource: "") }
    #expect(try JID("example.net").with(resource: "x") == JID("example.net/x"))
    #expect(Set([jid, jid.bare, try JID("romeo@example.net")]).count == 2)
  }

  @Test("an error says which part and why")
  func message() {
    #expect {
      try JID("a b@example.com")
    } throws: {
      "\($0)" == "the local part of the address contains U+0020, which is not allowed here"
    }
  }
}
