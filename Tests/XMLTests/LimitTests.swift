import Testing

@testable import XML

@Suite("limits of the parser")
struct LimitTests {
  let limits = ParserLimits(
    stanzaBytes: 1_000, skippedBytes: 3_000, tokenBytes: 300, depth: 5, attributes: 4, nodes: 10)

  @Test("depth counts the stream itself")
  func depth() {
    #expect(isKept("<a><a><a><a/></a></a></a>"))
    #expect(!isKept("<a><a><a><a><a/></a></a></a></a>"))
    let bottomless = String(repeating: "<a>", count: 1_001)
    #expect(parse(header + bottomless, limits: limits).error?.condition == "policy-violation")
  }

  @Test("what is skipped may be deep, but not without end: each level costs memory")
  func skippedDepth() {
    var limits = limits
    limits.skippedDepth = 20
    let levels = { (count: Int) in String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count) }
    #expect(parse(header + levels(20) + levels(1), limits: limits).stanzas.count == 1)
    #expect(condition(levels(21), limits: limits) == "policy-violation")
  }

  @Test("attributes and declarations")
  func attributes() {
    #expect(isKept("<a b='' c='' d='' e=''/>"))
    #expect(!isKept("<a b='' c='' d='' e='' f=''/>"))
    #expect(!isKept("<a><a b='' c='' d='' e='' f=''/></a>"))
    let declarations = (1...4).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
    #expect(isKept("<a\(declarations)/>"))
    #expect(!isKept("<a\(declarations) xmlns='urn:5'/>"))
  }

  @Test("bytes of a tag")
  func tag() {
    let value = String(repeating: "x", count: 300 - "<a b=''/>".utf8.count)
    #expect(isKept("<a b='\(value)'/>"))
    #expect(!isKept("<a b='\(value)x'/>"))
  }

  @Test("a stanza that exceeds a limit is skipped with all its content, and the next one is read as ever")
  func skips() {
    let deep = "<m id='1' from='eve@x'><a/>t<a><a><a><a>x</a></a></a></a><b>text</b></m>"
    let after = "<m id='2'><body>hi</body></m>"
    for outcome in [
      parse(header + deep + " " + after, limits: limits), bytewise(header + deep + after, limits: limits),
    ] {
      #expect(outcome.error == nil)
      guard outcome.events.count == 3, case .skipped(let start, _) = outcome.events[1] else {
        Issue.record("\(outcome.events)")
        continue
      }
      #expect(start["from"] == "eve@x" && start.children.isEmpty)
      #expect(outcome.stanzas.map { $0["id"] } == ["2"])
      #expect(outcome.stanzas.first?.elements.first?.text == "hi")
    }
  }

  @Test("what is skipped still has to be XML, and to end")
  func skippedIsChecked() {
    let deep = "<a><a><a><a><a>"
    #expect(condition(deep + "</b>", limits: limits) == "not-well-formed")
    #expect(condition(deep + "<!-- x -->", limits: limits) == "restricted-xml")
    #expect(condition(deep + String(repeating: "<a/>", count: 750), limits: limits) == "policy-violation")
  }

  /// Whether a stanza is kept, or else skipped; the same whole and byte by byte.
  private func isKept(_ stanza: String) -> Bool {
    let whole = parse(header + stanza, limits: limits)
    #expect(whole == bytewise(header + stanza, limits: limits))
    #expect(whole.error == nil && whole.events.count == 2)
    return whole.stanzas.count == 1
  }

  @Test("bytes of a stanza, to the byte, however it is made up")
  func stanza() {
    let text = String(repeating: "x", count: 1_000 - "<a></a>".utf8.count)
    #expect(condition("<a>\(text)</a><a>\(text)</a>", limits: limits) == nil)
    #expect(isKept("<a>\(text)</a>"))
    #expect(!isKept("<a>x\(text)</a>"))
    let cdata = String(repeating: "y", count: 1_000 - "<a><![CDATA[]]></a>".utf8.count)
    #expect(isKept("<a><![CDATA[\(cdata)]]></a>"))
    #expect(!isKept("<a><![CDATA[\(cdata)y]]></a>"))
  }

  @Test("a message that its server has made six times as long is passed over, and what comes behind it is read")
  func escaped() {
    let long = "<message id='1'><body>" + String(repeating: "&apos;", count: 400) + "</body></message>"
    let after = "<message id='2'><body>hi</body></message>"
    for outcome in [parse(header + long + after, limits: limits), bytewise(header + long + after, limits: limits)] {
      #expect(outcome.error == nil)
      #expect(outcome.stanzas.map { $0["id"] } == ["2"])
    }
    let longer = "<message><body>" + String(repeating: "&apos;", count: 600) + "</body></message>"
    #expect(condition(longer, limits: limits) == "policy-violation", "but not without end")
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
    #expect(isKept("<a>\(five)y</a>"))
    #expect(!isKept("<a>\(five)<a>y</a></a>"))
    #expect(!isKept("<a>\(five)<a/>y</a>"))
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
