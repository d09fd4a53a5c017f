import Testing

@testable import XML

@Suite("stream parser")
struct StreamParserTests {
  @Test("header, stanzas and end come out as events")
  func stream() throws {
    let outcome = parse(
      header + "<message from='a@b' xml:lang='de'><body>x &amp; &lt;y&gt; &#xe9;</body></message> \n"
        + "<iq xmlns='urn:other' xmlns:p='urn:p' p:q='r'><p:z/></iq></stream:stream>\n")
    #expect(outcome.error == nil)
    guard case .opened(let stream) = outcome.events.first else {
      Issue.record("no header")
      return
    }
    #expect(stream.isNamed("stream", "http://etherx.jabber.org/streams"))
    #expect(stream["id"] == "x")
    #expect(stream.declaredDefaultNamespace == "jabber:client")
    #expect(outcome.events.last == .closed)
    let message = outcome.stanzas[0]
    #expect(message.isNamed("message", "jabber:client"))
    #expect(message["from"] == "a@b")
    #expect(message["lang"] == nil)
    #expect(message.lang == "de")
    #expect(message.child("body", "jabber:client")?.text == "x & <y> é")
    #expect(message.child("body", "urn:other") == nil)
    let iq = outcome.stanzas[1]
    #expect(iq.isNamed("iq", "urn:other"))
    #expect(iq["q", namespace: "urn:p"] == "r")
    #expect(iq.elements.map(\.namespace) == ["urn:p"])
  }

  @Test("a stanza is delivered with its last byte, not later")
  func promptness() throws {
    let parser = StreamParser()
    var count = 0
    try parser.parse(Array(header.utf8)) { _ in count += 1 }
    #expect(count == 1)
    for byte in "<message a='>'><body>text</body></message".utf8 {
      try parser.parse([byte]) { _ in count += 1 }
    }
    #expect(count == 1)
    try parser.parse([UInt8(ascii: ">")]) { _ in count += 1 }
    #expect(count == 2)
  }

  @Test("however the bytes are cut, the events are the same")
  func splits() {
    var random = SplitMix()
    for _ in 0..<150 {
      var text = header
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        random.element().write(into: &text)
        text += [" ", "\n\r\t", "", "<![CDATA[ ]]>"].randomElement(using: &random) ?? ""
      }
      // Some end well, some don't.
      text +=
        ["</stream:stream>", "</stream:stream> \n", "<a></b>", "<!---->", "x<y/>", "<p:q/>"].randomElement(
          using: &random) ?? ""
      let whole = parse(text)
      #expect(bytewise(text).events == whole.events)
      #expect(bytewise(text).error?.condition == whole.error?.condition)
      var rest = Array(text.utf8)[...]
      var pieces: [[UInt8]] = []
      while !rest.isEmpty {
        pieces.append(Array(rest.prefix(Int.random(in: 1...40, using: &random))))
        rest = rest.dropFirst(pieces.last?.count ?? 0)
      }
      let cut = parse(pieces)
      #expect(cut.events == whole.events)
      #expect(cut.error?.condition == whole.error?.condition)
    }
  }

  @Test("damaged streams come to the same end, however they are cut")
  func damage() {
    var random = SplitMix()
    for _ in 0..<500 {
      var text = header
      for _ in 0..<2 { random.element().write(into: &text) }
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let byte = Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : UInt8(ascii: ">")
        if Bool.random(using: &random) { bytes[place] = byte } else { bytes.insert(byte, at: place) }
      }
      // Something that ends a tag, so that nothing is held back.
      bytes += Array("</stream:stream>".utf8)
      let whole = parse([bytes])
      let pieces = parse(bytes.map { [$0] })
      if whole.events != pieces.events || whole.error?.condition != pieces.error?.condition {
        Issue.record("\(String(decoding: bytes, as: UTF8.self).debugDescription)")
      }
    }
  }

  @Test("after stop nothing more is delivered, and what follows is counted")
  func stop() throws {
    let parser = StreamParser()
    var events: [StreamEvent] = []
    let start = header + "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"
    let text = start + "<message/></stream:stream><junk"
    try parser.parse(Array(text.utf8)) {
      events.append($0)
      if case .element = $0 { parser.stop() }
    }
    #expect(events.count == 2)
    #expect(parser.consumedBytes == start.utf8.count)
    #expect(parser.unconsumedBytes == text.utf8.count - start.utf8.count)
    try parser.parse(Array("<more/>&&&".utf8)) { events.append($0) }
    #expect(events.count == 2)
    #expect(parser.unconsumedBytes == text.utf8.count - start.utf8.count + 10)
  }

  @Test("nothing is left over when the peer waits, as it must")
  func nothingLeft() throws {
    let parser = StreamParser()
    for piece in [header, "  \n", "<features/>", " ", "<proce", "ed/>"] {
      try parser.parse(Array(piece.utf8)) { if case .element(let e) = $0, e.name == "proceed" { parser.stop() } }
    }
    #expect(parser.unconsumedBytes == 0)
    #expect(parser.consumedBytes == parser.receivedBytes)
  }

  @Test("white space between stanzas is nothing", arguments: [1, 7, 100_000])
  func keepalive(_ size: Int) throws {
    let parser = StreamParser(limits: ParserLimits(stanzaBytes: 50))
    var names: [String] = []
    let blank = String(repeating: " \n", count: size)
    for piece in [header + blank, blank, "<a/>" + blank + "<b>" + "</b>", blank, "\(blank)<c", "/>"] {
      try parser.parse(Array(piece.utf8)) { if case .element(let e) = $0 { names.append(e.name) } }
    }
    #expect(names == ["a", "b", "c"])
  }

  @Test("text keeps its order among elements, and white space within stanzas")
  func mixedContent() {
    let children = parse(header + "<a> <b/>x<![CDATA[<y>]]>z<b/>\n</a>").stanzas.first?.children
    #expect(
      children == [
        .text(" "), .element(Element("b", "jabber:client")), .text("x<y>z"), .element(Element("b", "jabber:client")),
        .text("\n"),
      ])
  }

  @Test("a stream header that is an empty element opens and closes")
  func emptyStream() {
    let outcome = parse("<s xmlns='urn:s'/>")
    #expect(outcome.error == nil)
    #expect(outcome.events.count == 2)
    #expect(outcome.events.last == .closed)
  }

  @Test("a parser that failed fails again, the same way")
  func failsAgain() {
    let parser = StreamParser()
    #expect(throws: XMLStreamError.self) { try parser.parse(Array("<a><!-- --><b/>".utf8)) { _ in } }
    #expect(throws: XMLStreamError.restrictedXML("a comment")) { try parser.parse(Array("<b/>".utf8)) { _ in } }
  }

  @Test("expat is renewed without a trace, so endless new names don't fill the memory")
  func renewal() throws {
    let parser = StreamParser()
    var names: [String] = []
    var expected: [String] = []
    var text = header
    for number in 0..<60_000 {
      expected.append("n\(number)")
      text += "<n\(number) xmlns:p\(number)='urn:p'><p\(number):x b\(number)=''/></n\(number)> "
    }
    text += "<stream:error/></stream:stream>"
    var rest = Array(text.utf8)[...]
    var closed = false
    while !rest.isEmpty {
      try parser.parse(Array(rest.prefix(3_001))) {
        switch $0 {
        case .opened: break
        case .skipped: Issue.record("a stanza was skipped")
        case .element(let element):
          names.append(element.name)
          if element.name != "error" { #expect(element.namespace == "jabber:client") }
        case .closed: closed = true
        }
      }
      rest = rest.dropFirst(3_001)
    }
    #expect(names == expected + ["error"])
    #expect(closed)
    #expect(parser.consumedBytes == text.utf8.count)
    #expect(parser.renewals >= text.utf8.count / (StreamParser.renewalBytes + 3_001))
  }
}

extension Element {
  func write(into text: inout String) {
    var out: [UInt8] = []
    write(to: &out, parentNamespace: "jabber:client")
    text += String(decoding: out, as: UTF8.self)
  }
}
