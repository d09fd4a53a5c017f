import Testing
import XML

@Suite("writer")
struct WriterTests {
  @Test("an element is written without what is absent")
  func plain() {
    let message = Element(
      "message", "jabber:client", [("to", "a@b"), ("id", nil)], [Element("body", "jabber:client", text: "hi")])
    #expect(message.xml == "<message xmlns='jabber:client' to='a@b'><body>hi</body></message>")
    var out: [UInt8] = []
    message.write(to: &out, parentNamespace: "jabber:client")
    #expect(String(decoding: out, as: UTF8.self) == "<message to='a@b'><body>hi</body></message>")
    #expect(Element("a", "", text: "").xml == "<a/>")
  }

  @Test("a namespace is declared where it changes, and back to none")
  func namespaces() {
    let tree = Element("a", "urn:1", [], [Element("b", "urn:2", [], [Element("c", "urn:2"), Element("d", "")])])
    #expect(tree.xml == "<a xmlns='urn:1'><b xmlns='urn:2'><c/><d xmlns=''/></b></a>")
  }

  @Test("attributes with a namespace have a prefix")
  func attributes() {
    var element = Element("a", "urn:1")
    element.lang = "de"
    element["x", namespace: "urn:1"] = "1"
    element["y", namespace: "urn:1"] = "2"
    element["x", namespace: "urn:2"] = "3"
    #expect(
      element.xml
        == "<a xmlns='urn:1' xml:lang='de' xmlns:ns1='urn:1' ns1:x='1' ns1:y='2' xmlns:ns2='urn:2' ns2:x='3'/>")
    element.lang = nil
    #expect(element.lang == nil)
  }

  @Test("text is escaped so that it comes back unchanged")
  func escaping() {
    var element = Element("a", "", [("b", "<&>'\"\t\n\r")], [])
    element.children = [.text("<&>'\"\t\n\r]]>")]
    #expect(
      element.xml
        == "<a b='&lt;&amp;&gt;&apos;\"&#9;&#10;&#13;'>&lt;&amp;&gt;'\"\t\n&#13;]]&gt;</a>")
  }

  @Test("what XML forbids becomes U+FFFD")
  func forbidden() {
    let text = "a\0b\u{1}c\u{1F}\u{FFFE}\u{FFFF}d\u{FFFD}\u{7F}"
    let safe = "a\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}\u{FFFD}d\u{FFFD}\u{7F}"
    #expect(XMLText.sanitized(text) == safe)
    #expect(XMLText.sanitized("plain\t\n\r") == "plain\t\n\r")
    #expect(Element("a", "", text: text).xml == "<a>\(safe)</a>")
    #expect(Element("a", "", [("b", text)]).xml == "<a b='\(safe)'/>")
    #expect(Element("a", text).xml == "<a xmlns='\(safe)'/>")
  }

  @Test("a wrong name can't break out of its place")
  func names() {
    #expect(Element("a><b", "").xml == "<a__b/>")
    #expect(Element("", "").xml == "<_/>")
    #expect(Element("1a", "", [("x='1' y", "z"), ("p:q", "r")]).xml == "<_a x__1__y='z' p_q='r'/>")
    #expect(Element("-é\u{0}", "").xml == "<_é_/>")
  }

  @Test("attributes can't come twice nor declare namespaces")
  func doubles() {
    var element = Element("a", "urn:1", [("b", "1"), ("b", "2"), ("xmlns", "urn:evil"), ("b ", "3"), ("b_", "4")])
    element.attributes.append(Attribute("p", XMLNamespace.xmlns, value: "urn:evil"))
    #expect(element.xml == "<a xmlns='urn:1' b='1' b_='3'/>")
  }

  @Test("the namespaces that XML reserves are never declared")
  func reserved() throws {
    let tree = Element("a", XMLNamespace.xml, [], [Element("b", XMLNamespace.xmlns), Element("c", "urn:c")])
    #expect(tree.xml == "<xml:a><b/><c xmlns='urn:c'/></xml:a>")
    #expect(try Element(parsing: tree.xml).name == "a")
  }

  @Test("what is written comes back the same")
  func roundTrip() throws {
    var random = SplitMix()
    for _ in 0..<2_000 {
      let element = random.element()
      let read = try Element(parsing: element.xml)
      #expect(sanitized(read) == sanitized(element))
      // Written again, it stays the same: nothing was lost or escaped twice.
      #expect(read.xml == (try Element(parsing: read.xml).xml))
    }
  }

  @Test("parsing takes exactly one element", arguments: ["", " ", "x", "<a/><b/>", "<a/></x><x>", "<a/></x>", "<a"])
  func notOneElement(_ text: String) {
    #expect(throws: XMLStreamError.self) { try Element(parsing: text) }
  }

  @Test("elements can be looked at and changed")
  func access() {
    var element = Element("a", "urn:1", [("b", "1")])
    element["b"] = "2"
    element["c"] = "3"
    element.append(Element("d", "urn:2", text: "x"))
    element.children.append(.text("y"))
    element.append(Element("d", "urn:1"))
    element.children.append(.text("z"))
    #expect(element["b"] == "2")
    #expect(element.text == "yz")
    #expect(element.child("d", "urn:2")?.text == "x")
    #expect(element.elements.count == 2)
    element["b"] = nil
    #expect(element.attributes == [Attribute("c", value: "3")])
  }
}
