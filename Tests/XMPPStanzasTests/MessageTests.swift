import JID
import Testing
import XML
import XMPPStanzas

@Suite("Messages")
struct MessageTests {
  @Test("what the bot understands is read")
  func everything() throws {
    let message = try message(
      """
      <message type='chat' id='m1' from='alice@example.org/x' to='bot@example.org' xml:lang='de'>
       <subject>s</subject><body>b</body><thread>t</thread>
       <delay xmlns='urn:xmpp:delay' stamp='2002-09-10T23:08:25Z' from='example.org'/>
       <stanza-id xmlns='urn:xmpp:sid:0' id='i1' by='bot@example.org'/>
       <stanza-id xmlns='urn:xmpp:sid:0' id='i2' by='room@example.org'/>
       <origin-id xmlns='urn:xmpp:sid:0' id='o'/>
       <replace xmlns='urn:xmpp:message-correct:0' id='r'/>
       <retract xmlns='urn:xmpp:message-retract:1' id='x'/>
       <reply xmlns='urn:xmpp:reply:0' id='y' to='a@b.example'/>
       <occupant-id xmlns='urn:xmpp:occupant-id:0' id='oc'/>
       <nick xmlns='http://jabber.org/protocol/nick'>Al</nick>
       <encryption xmlns='urn:xmpp:eme:0' namespace='eu.siacs.conversations.axolotl'/>
       <x xmlns='http://jabber.org/protocol/muc#user'/>
       <composing xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
    #expect(message.kind == .chat)
    #expect(message.id == "m1")
    #expect(try message.from == JID("alice@example.org/x"))
    #expect(try message.to == JID("bot@example.org"))
    #expect(message.lang == "de")
    #expect(message.subject == "s" && message.body == "b" && message.thread == "t")
    #expect(message.delay?.stamp == 1_031_699_305_000_000)
    #expect(message.delay?.from == "example.org")
    #expect(
      message.stanzaIDs == [StanzaID(id: "i1", by: "bot@example.org"), StanzaID(id: "i2", by: "room@example.org")])
    #expect(message.originID == "o" && message.replaces == "r" && message.retracts == "x" && message.replyTo == "y")
    #expect(message.occupantID == "oc" && message.nickname == "Al")
    #expect(message.encryption == "eu.siacs.conversations.axolotl")
    #expect(message.concernsRoom)
    #expect(message.chatState == .composing)
    #expect(message.wrapper == nil && message.error == nil)
  }

  @Test(
    "a type that is missing or unknown is a normal message (RFC 6121 section 5.2.2)",
    arguments: ["<message/>", "<message type=''/>", "<message type='CHAT'/>", "<message type='mad'/>"])
  func unknownType(_ xml: String) throws {
    #expect(try message(xml).kind == .normal)
  }

  @Test("of bodies in several languages the first counts")
  func languages() throws {
    #expect(try message("<message><body>one</body><body xml:lang='de'>eins</body></message>").body == "one")
  }

  @Test("a body of another namespace is no body, and one inside another element neither")
  func foreignBody() throws {
    let message = try message(
      "<message><body xmlns='http://www.w3.org/1999/xhtml'>x</body><html xmlns='h'><body>y</body></html></message>")
    #expect(message.body == nil)
  }

  @Test("text comes as it is: markup that was escaped, other planes, white space, nothing at all")
  func text() throws {
    #expect(
      try message("<message><body>&lt;b&gt; &amp;amp; \u{1F916}\n\t x </body></message>").body
        == "<b> &amp; \u{1F916}\n\t x ")
    #expect(try message("<message><body/></message>").body == "")
    #expect(try message("<message><body>a<i/>b</body></message>").body == "ab")
  }

  @Test(
    "a wrapper is seen wherever it stands, so that the gate sees it",
    arguments: [
      ("<sent xmlns='urn:xmpp:carbons:2'/>", Message.Wrapper.carbon(Element("sent", Namespace.carbons))),
      ("<received xmlns='urn:xmpp:carbons:2'/>", .carbon(Element("received", Namespace.carbons))),
      ("<result xmlns='urn:xmpp:mam:2'/>", .archiveResult(Element("result", Namespace.archive))),
      ("<event xmlns='http://jabber.org/protocol/pubsub#event'/>", .publishEvent),
    ])
  func wrappers(_ xml: String, _ wrapper: Message.Wrapper) throws {
    #expect(try message("<message><body>x</body>\(xml)</message>").wrapper == wrapper)
    #expect(try message("<message>\(xml)<body>x</body></message>").wrapper == wrapper)
    #expect(try message("<message><body>x</body><y xmlns='z'>\(xml)</y></message>").wrapper == nil)
  }

  @Test("an encryption that names no kind is one nevertheless; the body is for other eyes")
  func encryption() throws {
    #expect(try message("<message><encryption xmlns='urn:xmpp:eme:0'/></message>").encryption == "unknown")
  }

  @Test("a stanza-id without id or by proves nothing and is left out")
  func incompleteIDs() throws {
    let message = try message(
      "<message><stanza-id xmlns='urn:xmpp:sid:0' id='a'/><stanza-id xmlns='urn:xmpp:sid:0' by='a@b.example'/></message>"
    )
    #expect(message.stanzaIDs.isEmpty)
  }

  @Test(
    "an address that is none makes the message one that can't be taken",
    arguments: [
      "<message from='@'/>", "<message from='a b@c.example'/>", "<message to=''/>", "<message from='a@b.example/'/>",
    ])
  func malformedAddress(_ xml: String) {
    #expect(throws: StanzaFault.self) { try message(xml) }
  }

  @Test("what we write is read again, whatever the text holds")
  func roundTrip() throws {
    var written = Message(.chat, to: try JID("alice@example.org/a'b<c>&"), id: "'\"<>&", body: "<&>\"'\u{0}\u{FFFF}]]>")
    written.thread = "t&"
    written.originID = "o'"
    written.chatState = .active
    written.subject = "s"
    written.lang = "en"
    written.receipt = .request
    written.marker = .markable
    written.delay = Delay(stamp: 1_031_699_305_000_000, from: "bot@example.org")
    let read = try Message(Element(parsing: written.element.xml))
    #expect(read.to == written.to && read.id == written.id && read.thread == written.thread)
    #expect(read.originID == written.originID && read.chatState == .active && read.subject == "s" && read.lang == "en")
    #expect(read.body == "<&>\"'\u{FFFD}\u{FFFD}]]>")
    #expect(read.kind == .chat)
    #expect(read.receipt == .request && read.marker == .markable && read.delay == written.delay)
  }

  @Test("a message for the moment asks nobody to store it (XEP-0334 section 4.2)")
  func transient() throws {
    var written = Message(.chat, to: try JID("alice@example.org"), id: "1")
    #expect(!written.element.xml.contains("no-store"))
    written.isTransient = true
    #expect(
      written.element.xml
        == "<message xmlns='jabber:client' type='chat' to='alice@example.org' id='1'><no-store xmlns='urn:xmpp:hints'/></message>"
    )
  }

  @Test("a bounced message has its error")
  func bounced() throws {
    let message = try message(
      """
      <message type='error' from='alice@example.org'><body>x</body><error type='cancel'>
      <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
      """)
    #expect(message.kind == .error)
    #expect(message.error == StanzaError(.cancel, .serviceUnavailable))
  }
}
