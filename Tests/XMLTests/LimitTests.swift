import Testing

@testable import XML

@Suite("limits of the parser")
struct LimitTests {
  let limits = ParserLimits(stanzaBytes: 1_000, tokenBytes: 300, depth: 5, attributes: 4, nodes: 10)

  @Test("depth counts the stream itself")
  func depth() {
    #expect(condition("<a><a><a><a/></a></a></a>", limits: limits) == nil)
    #expect(condition("<a><a><a><a><a/></a></a></a></a>", limits: limits) == "policy-violation")
    let bottomless = String(repeating: "<a>", count: 100_000)
    #expect(parse(header + bottomless).error?.condition == "policy-violation")
  }

  @Test("attributes and declarations")
  func attributes() {
    #expect(condition("<a b='' c='' d='' e=''/>", limits: limits) == nil)
    #expect(condition("<a b='' c='' d='' e='' f=''/>", limits: limits) == "policy-violation")
    let declarations = (1...4).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
    #expect(condition("<a\(declarations)/><a\(declarations)/>", limits: limits) == nil)
    #expect(condition("<a\(declarations) xmlns='urn:5'/>", limits: limits) == "policy-violation")
    let many = (0..<5_000).map { " a\($0)=''" }.joined()
    #expect(parse(header + "<a\(many)/>").error?.condition == "policy-violation")
  }

  @Test("bytes of a tag")
  func tag() {
    let value = String(repeating: "x", count: 300 - "<a b=''/>".utf8.count)
    #expect(condition("<a b='\(value)'/>", limits: limits) == nil)
    #expect(condition("<a b='\(value)x'/>", limits: limits) == "policy-violation")
  }

  @Test("bytes of a stanza, to the byte, however it is made up")
  func stanza() {
    let text = String(repeating: "x", count: 1_000 - "<a></a>".utf8.count)
    #expect(condition("<a>\(text)</a><a>\(text)</a>", limits: limits) == nil)
    #expect(condition("<a>x\(text)</a>", limits: limits) == "policy-violation")
    let cdata = String(repeating: "y", count: 1_000 - "<a><![CDATA[]]></a>".utf8.count)
    #expect(condition("<a><![CDATA[\(cdata)]]></a>", limits: limits) == nil)
    #expect(condition("<a><![CDATA[\(cdata)y]]></a>", limits: limits) == "policy-violation")
  }

  @Test("bytes of a stanza that never ends", arguments: ["<a>", "<a b='", "<a><![CDATA[", "<", "<!-- ", "<a>&"])
  func endless(_ start: String) {
    let text = header + start + String(repeating: "x", count: 5_000)
    #expect(parse(text, limits: limits).error?.condition == "policy-violation")
    #expect(bytewise(text, limits: limits).error?.condition == "policy-violation")
  }

  @Test("nodes of a stanza")
  func nodes() {
    let five = String(repeating: "x<a/>", count: 4)
    #expect(condition("<a>\(five)y</a><a>\(five)</a>", limits: limits) == nil)
    #expect(condition("<a>\(five)<a>y</a></a>", limits: limits) == "policy-violation")
  }

  @Test("bytes of the stream header", arguments: ["<s ", "   ", "<?xml version='1.0'?>", "<!-- "])
  func streamHeader(_ start: String) {
    let long = start + String(repeating: " ", count: 400)
    #expect(parse(long, limits: limits).error?.condition == "policy-violation")
    #expect(bytewise(long, limits: limits).error?.condition == "policy-violation")
    #expect(parse(long + "<s>", limits: limits).events.isEmpty)
  }

  @Test("a tag that comes byte by byte and looks finished each time does not cost more than its limit")
  func rescanning() throws {
    let parser = StreamParser()
    try parser.parse(Array(header.utf8)) { _ in }
    try parser.parse(Array("<a b='".utf8)) { _ in }
    var bytes = 0
    var error: XMLStreamError?
    while error == nil && bytes < 1 << 20 {
      bytes += 1
      do throws(XMLStreamError) { try parser.parse([UInt8(ascii: ">")]) { _ in } } catch let e { error = e }
      #expect(parser.rescanned <= (8 << 16) + bytes + 10)
    }
    #expect(error?.condition == "policy-violation")
  }

  @Test("a long tag without “>” that comes byte by byte is looked at once")
  func unfinishedTag() throws {
    let parser = StreamParser()
    try parser.parse(Array((header + "<a b='").utf8)) { _ in }
    for _ in 0..<60_000 { try parser.parse([UInt8(ascii: "x")]) { _ in } }
    #expect(parser.rescanned == 0)
    var stanza: Element?
    try parser.parse(Array("'/>".utf8)) { if case .element(let e) = $0 { stanza = e } }
    #expect(stanza?["b"]?.utf8.count == 60_000)
  }

  @Test("the defaults accept what real servers send")
  func defaults() {
    let item = "<item jid='contact-number-1234@example.org' name='Somebody' subscription='both'><group>g</group></item>"
    let roster = "<iq><query xmlns='jabber:iq:roster'>" + String(repeating: item, count: 8_000) + "</query></iq>"
    let outcome = parse(header + roster)
    #expect(outcome.error == nil)
    #expect(outcome.stanzas.first?.elements.first?.elements.count == 8_000)
  }
}
