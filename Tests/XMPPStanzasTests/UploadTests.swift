import JID
import Testing
import XML
import XMPPStanzas

@Suite("HTTP upload (XEP-0363)")
struct UploadTests {
  private func slot(
    put: String = "https://up.example.org/a/b.txt", get: String = "https://down.example.org/a/b.txt",
    headers: String = ""
  ) throws -> UploadSlot {
    try UploadSlot(
      Element(
        parsing: "<slot xmlns='urn:xmpp:http:upload:0'><put url='\(put)'>\(headers)</put><get url='\(get)'/></slot>"))
  }

  @Test("the XEP's own example is understood")
  func example() throws {
    let slot = try slot(
      headers:
        "<header name='Authorization'>Basic Base64String==</header><header name='Cookie'>foo=bar; user=romeo</header>")
    #expect(slot.put == "https://up.example.org/a/b.txt" && slot.get == "https://down.example.org/a/b.txt")
    #expect(
      slot.headers.map { "\($0.name): \($0.value)" } == [
        "Authorization: Basic Base64String==", "Cookie: foo=bar; user=romeo",
      ])
  }

  @Test(
    "an address that is not plain https is refused, for the file as for the link",
    arguments: [
      "http://up.example.org/a", "file:///etc/shadow", "ftp://up.example.org/a", "https://", "https:///a",
      "https://:1/a",
      "https://user@up.example.org/a", "https://a.example@b.example/", "https://up.example.org/a b",
      "//up.example.org/a", "",
      "https://up.example.org/\u{e9}", "javascript:alert(1)", "https://up.example.org/&quot;x",
      "https://up.example.org/{a}",
      "https://up.example.org/&#10;Host: x", "https://\(String(repeating: "a", count: 9000))",
    ])
  func hostile(_ address: String) {
    #expect(throws: UploadSlot.Fault.self) { try slot(put: address) }
    #expect(throws: UploadSlot.Fault.self) { try slot(get: address) }
  }

  @Test("other headers than the three are ignored, and line breaks in them make no second one")
  func headers() throws {
    let slot = try slot(
      headers: """
        <header name='Host'>evil.example</header><header name='X-Auth'>1</header><header name='eXpires'>0</header>
        <header name='Cookie'>a=b&#13;&#10;Transfer-Encoding: chunked</header><header>x</header>
        """)
    #expect(slot.headers.map { "\($0.name): \($0.value)" } == ["eXpires: 0", "Cookie: a=bTransfer-Encoding: chunked"])
  }

  @Test("a header that is huge, or many of them, or with control characters, makes the slot useless")
  func hugeHeaders() {
    let huge = "<header name='Cookie'>\(String(repeating: "x", count: 9_000))</header>"
    let many = String(repeating: "<header name='Cookie'>x</header>", count: 17)
    for headers in [huge, many, "<header name='Cookie'>a&#9;b</header>"] {
      #expect(throws: UploadSlot.Fault.self) { try slot(headers: headers) }
    }
  }

  @Test("a service says what it is, and how large a file may be (XEP-0128)")
  func service() throws {
    let jid = try JID("upload.example.org")
    func info(_ form: String) throws -> Element {
      try Element(
        parsing: """
          <query xmlns='http://jabber.org/protocol/disco#info'><identity category='store' type='file'/>
          <feature var='urn:xmpp:http:upload:0'/><x type='result' xmlns='jabber:x:data'>
          <field var='FORM_TYPE' type='hidden'><value>\(form)</value></field>
          <field var='max-file-size'><value>5242880</value></field></x></query>
          """)
    }
    #expect(UploadService(jid, info: try info("urn:xmpp:http:upload:0"))?.maxFileSize == 5_242_880)
    #expect(UploadService(jid, info: try info("urn:xmpp:http:upload")) == UploadService(jid: jid))
    #expect(
      UploadService(jid, info: try Element(parsing: "<query xmlns='http://jabber.org/protocol/disco#info'/>")) == nil)
  }

  @Test("a message that is a link says so (XEP-0066)")
  func link() throws {
    var message = Message(.chat, to: try JID("alice@example.org"), id: "1", body: "https://example.org/a?b&c")
    message.link = message.body
    #expect(
      message.element.xml == """
        <message xmlns='jabber:client' type='chat' to='alice@example.org' id='1'><body>https://example.org/a?b&amp;c</body>\
        <x xmlns='jabber:x:oob'><url>https://example.org/a?b&amp;c</url></x></message>
        """)
  }
}
