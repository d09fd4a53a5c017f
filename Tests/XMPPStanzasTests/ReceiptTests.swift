import JID
import Testing
import XML
import XMPPStanzas

@Suite("Receipts and markers")
struct ReceiptTests {
  @Test("what Conversations sends asks for both, and gets a receipt that says nothing else (XEP-0184 section 7)")
  func conversations() throws {
    let message = try message(
      """
      <message to='bot@example.org' type='chat' id='d1f9c2d6' from='alice@example.org/Conversations.gs2L'>
       <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>
       <origin-id xmlns='urn:xmpp:sid:0' id='d1f9c2d6'/><active xmlns='http://jabber.org/protocol/chatstates'/>
       <body>ping</body></message>
      """)
    #expect(message.receipt == .request && message.marker == .markable)
    var receipt = Message(.chat, to: try JID("alice@example.org/Conversations.gs2L"), id: "r1")
    receipt.receipt = .received("d1f9c2d6")
    #expect(
      receipt.element.xml
        == "<message xmlns='jabber:client' type='chat' to='alice@example.org/Conversations.gs2L' id='r1'><received xmlns='urn:xmpp:receipts' id='d1f9c2d6'/></message>"
    )
  }

  @Test("one receipt is of XEP-0184, one of XEP-0333, and one is no receipt but a carbon")
  func received() throws {
    let message = try message(
      """
      <message><received xmlns='urn:xmpp:receipts' id='a'/><received xmlns='urn:xmpp:chat-markers:0' id='b'/>
      <received xmlns='other' id='c'/></message>
      """)
    #expect(message.receipt == .received("a") && message.marker == .received("b") && message.wrapper == nil)
  }

  @Test(
    "markers are read, those of earlier versions, too, and written",
    arguments: [
      ("markable", Marker.markable), ("received", .received("x")), ("displayed", .displayed("x")),
      ("acknowledged", .acknowledged("x")),
    ])
  func markers(_ name: String, _ expected: Marker) throws {
    #expect(try message("<message><\(name) xmlns='urn:xmpp:chat-markers:0' id='x'/></message>").marker == expected)
    var written = Message(.chat, to: try JID("alice@example.org"), id: "1")
    written.marker = expected
    #expect(try Message(written.element).marker == expected)
  }

  @Test(
    "what names no message says nothing",
    arguments: [
      "<received xmlns='urn:xmpp:receipts'/>", "<displayed xmlns='urn:xmpp:chat-markers:0'/>",
      "<shouted xmlns='urn:xmpp:receipts' id='x'/>", "<shouted xmlns='urn:xmpp:chat-markers:0' id='x'/>",
    ])
  func nameless(_ xml: String) throws {
    let message = try message("<message>\(xml)</message>")
    #expect(message.receipt == nil && message.marker == nil)
  }
}

@Suite("Encrypted messages")
struct EncryptionTests {
  @Test(
    "what is encrypted is known by its element, its hint or its text",
    arguments: [
      ("<encryption xmlns='urn:xmpp:eme:0' namespace='urn:xmpp:otr:0'/>", "urn:xmpp:otr:0"),
      (
        "<encrypted xmlns='eu.siacs.conversations.axolotl'><header/><payload>A</payload></encrypted>",
        "eu.siacs.conversations.axolotl"
      ),
      ("<encrypted xmlns='urn:xmpp:omemo:2'><header/><payload>A</payload></encrypted>", "urn:xmpp:omemo:2"),
      ("<x xmlns='jabber:x:encrypted'>A</x>", "jabber:x:encrypted"),
      ("<openpgp xmlns='urn:xmpp:openpgp:0'>A</openpgp>", "urn:xmpp:openpgp:0"),
      ("<body>?OTR:AAMDJ+MVmSfjFZcAAAAAAQAAAAIA</body>", "urn:xmpp:otr:0"),
      ("<body>-----BEGIN PGP MESSAGE-----&#10;A</body>", "jabber:x:encrypted"),
    ])
  func known(xml: String, namespace: String) throws {
    let message = try message("<message>\(xml)</message>")
    #expect(message.encryption == namespace && !message.isKeyExchange)
  }

  @Test(
    "what anybody can read is not encrypted, nor what only looks like it",
    arguments: [
      "<body>?</body>", "<body>?otr</body>", "<body>- a list</body>", "<body>what is ?OTR</body>",
      "<body>hello</body><encrypted xmlns='other'/>", "<body>hello</body><x xmlns='jabber:x:oob'><url>x</url></x>",
    ])
  func plain(xml: String) throws {
    #expect(try message("<message>\(xml)</message>").encryption == nil)
  }

  @Test("an OMEMO message without a payload only sets up keys")
  func keyExchange() throws {
    let xml = "<message><encrypted xmlns='urn:xmpp:omemo:2'><header/></encrypted></message>"
    let message = try message(xml)
    #expect(message.encryption == "urn:xmpp:omemo:2" && message.isKeyExchange)
  }
}
