import Testing

@testable import XML

@Suite("what a stream may not hold")
struct RefusalTests {
  @Test(
    "restricted XML (RFC 6120, section 11.1)",
    arguments: [
      "<!-- comment -->", "<a><!----></a>", "<?php echo ?>", "<a><?x?></a>", "<a>&foo;</a>", "<a b='&foo;'/>",
    ])
  func restricted(_ text: String) {
    #expect(condition(text) == "restricted-xml")
  }

  @Test(
    "restricted XML before the stream",
    arguments: [
      "<!DOCTYPE a>", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'>", "<!-- -->",
      "<?xml version='1.0'?><?x y?>",
      "<!DOCTYPE a [<!ENTITY a0 'ha'><!ENTITY a1 '&a0;&a0;'><!ENTITY a2 '&a1;&a1;'>]><a>&a2;</a>",
    ])
  func restrictedProlog(_ text: String) {
    #expect(parse(text + header).error?.condition == "restricted-xml")
    #expect(bytewise(text + header).error?.condition == "restricted-xml")
    #expect(parse(text + header).events.isEmpty)
  }

  @Test(
    "what is not well-formed",
    arguments: [
      "<a></b>", "<a b='1' b='2'/>", "<a b=c/>", "<a b/>", "<a <b/>", "</stream:stream></stream:stream>",
      "</stream:stream><stream:stream>", "</stream:stream>x<y/>", "<a>&#0;</a>", "<a>&#xFFFE;</a>", "<a>&#xD800;</a>",
      "<a>\0</a>", "<a>\u{1}</a>", "<a>\u{FFFF}</a>", "<a>]]></a>", "<1/>", "<a:b:c/>", "<a:/>", "<:a/>",
      "<a p:b='' xmlns:p='urn:p' xmlns:q='urn:p' q:b=''/>", "<a b='<'/>", "<a>&amp</a>", "<?xml version='1.0'?>",
      "<\u{D7}/>", "</a>",
    ])
  func malformed(_ text: String) {
    #expect(condition(text) == "not-well-formed")
  }

  @Test("two roots, or anything but white space after the end, are refused")
  func afterEnd() {
    #expect(parse(header + "</stream:stream>junk").error?.condition == "not-well-formed")
    #expect(parse([Array((header + "</stream:stream>").utf8), Array("j".utf8)]).error?.condition == "not-well-formed")
    #expect(condition("</stream:stream> \n\t ") == nil)
  }

  @Test(
    "bad UTF-8",
    arguments: [
      [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
      [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xC3, 0x28],
    ] as [[UInt8]])
  func badUTF8(_ bytes: [UInt8]) {
    for (before, after) in [("<a>", "</a>"), ("<a b='", "'/>"), ("<a", "/>"), ("<a><![CDATA[", "]]></a>")] {
      let text = Array((header + before).utf8) + bytes + Array(after.utf8)
      #expect(parse([text]).error?.condition == "not-well-formed")
      #expect(parse(text.map { [$0] }).error?.condition == "not-well-formed")
      #expect(parse([text]).stanzas.isEmpty)
    }
  }

  @Test(
    "other encodings",
    arguments: [
      Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>".utf8),
      Array("<?xml version='1.0' encoding='UTF-16'?><a>".utf8),
      Array("<?xml version='1.0' encoding='utf-7'?><a>".utf8), [0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x3E, 0],
      [0xFE, 0xFF, 0, 0x3C, 0, 0x61, 0, 0x3E], [0x3C, 0, 0x61, 0, 0x3E, 0], [0, 0x3C, 0, 0x61, 0, 0x3E],
    ] as [[UInt8]])
  func encoding(_ bytes: [UInt8]) {
    #expect(parse([bytes]).error?.condition == "unsupported-encoding")
    #expect(parse(bytes.map { [$0] }).error?.condition == "unsupported-encoding")
  }

  @Test("UTF-8 may be named, in any case")
  func namedUTF8() {
    #expect(parse("<?xml version='1.0' encoding='utf-8'?><a>").error == nil)
    #expect(parse("<?xml version='1.1'?><a>").error?.condition == "not-well-formed")
  }

  @Test(
    "tricks with prefixes",
    arguments: [
      "<p:a/>", "<a p:b='c'/>", "<a xmlns:p=''/>", "<a xmlns:xml='urn:x'/>", "<a xmlns:xmlns='urn:x'/>",
      "<a xmlns='http://www.w3.org/XML/1998/namespace'/>", "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>",
      "<xmlns:a/>", "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", "<b xmlns:p='urn:p'/><p:a/>",
    ])
  func prefixes(_ text: String) {
    #expect(condition(text) == "bad-namespace-prefix")
  }

  @Test("a namespace can't pass for another one and a name (CVE-2022-25236)")
  func separatorInNamespace() {
    #expect(condition("<a xmlns='urn:a&#1;b'/>") == "not-well-formed")
    let stanza = parse(header + "<a xmlns='jabber:client&#10;message'/>").stanzas.first
    #expect(stanza?.namespace == "jabber:client\nmessage")
    #expect(stanza?.name == "a")
  }

  @Test("names are compared as XML does, not by canonical equivalence")
  func kelvin() {
    let stanza =
      parse(header + "<\u{212A} \u{212A}='1'/>").stanzas.first
      ?? Element("\u{212A}", "jabber:client", [("\u{212A}", "1")])
    #expect(!stanza.isNamed("K", "jabber:client"))
    #expect(stanza["K"] == nil)
  }

  @Test("text between stanzas", arguments: ["x<a/>", "<a/>x<b/>", "&#120;<a/>", "<![CDATA[x]]>"])
  func looseText(_ text: String) {
    #expect(condition(text) == "bad-format")
  }

  @Test("a peer that does not speak XML is noticed with its first bytes")
  func otherProtocols() {
    #expect(parse("HTTP/1.1 400 Bad Request\r\n").error?.condition == "not-well-formed")
    #expect(parse([[0x15, 0x03, 0x01, 0x00, 0x02]]).error?.condition == "not-well-formed")
    #expect(parse("220 smtp.example.org ESMTP").error?.condition == "not-well-formed")
  }

  @Test("events before the fault are delivered, none after it")
  func order() {
    let outcome = parse(header + "<a/><b/><c><!----></c><d/>")
    #expect(outcome.stanzas.map(\.name) == ["a", "b"])
    #expect(outcome.error == .restrictedXML("a comment"))
  }
}
