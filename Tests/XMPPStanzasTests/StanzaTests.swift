import JID
import Testing
import XML
import XMPPStanzas

@Suite("Presence, requests and errors")
struct StanzaTests {
  @Test("what is no stanza is told apart from one that is wrong")
  func kinds() throws {
    #expect(try Stanza(Element("message", "other")) == nil)
    #expect(try Stanza(stanza("<widget/>")) == nil)
    #expect(throws: StanzaFault.self) { try Stanza(stanza("<iq type='get'/>")) }
    let isPresence = if case .presence? = try Stanza(stanza("<presence/>")) { true } else { false }
    #expect(isPresence)
  }

  // MARK: - Presence

  @Test("presence without a type is available, with one of RFC 6121's it is that")
  func presenceTypes() throws {
    #expect(try presence("<presence/>").kind == .available)
    for kind in ["unavailable", "subscribe", "subscribed", "unsubscribe", "unsubscribed", "probe", "error"] {
      #expect(try presence("<presence type='\(kind)'/>").kind.rawValue == kind)
    }
  }

  @Test("presence of another type is none", arguments: ["available", "", "Subscribe", "subscribe "])
  func wrongPresence(_ type: String) {
    #expect(throws: StanzaFault.self) { try presence("<presence type='\(type)'/>") }
  }

  @Test("a priority that is none is 0", arguments: [("5", 5), ("-128", -128), ("128", 0), ("x", 0), ("", 0)])
  func priorities(_ text: String, _ priority: Int8) throws {
    #expect(try presence("<presence><priority>\(text)</priority></presence>").priority == priority)
  }

  @Test("what we write is read again")
  func presenceRoundTrip() throws {
    var written = Presence(.subscribe, to: try JID("alice@example.org"))
    written.status = "<on>"
    written.nickname = "B & b"
    written.priority = -1
    let read = try Presence(Element(parsing: written.element.xml))
    #expect(read.kind == .subscribe && read.to == written.to && read.status == "<on>")
    #expect(read.nickname == "B & b" && read.priority == -1)
  }

  @Test("presence tells of the vCard's picture, or that there is none (XEP-0153)")
  func photo() {
    var presence = Presence(.available)
    presence.photo = .id("abc")
    #expect(presence.element.child("x", Namespace.vCardUpdate)?.child("photo", Namespace.vCardUpdate)?.text == "abc")
    presence.photo = VCardPhoto.none
    #expect(presence.element.child("x", Namespace.vCardUpdate)?.child("photo", Namespace.vCardUpdate)?.text == "")
  }

  // MARK: - IQ

  @Test(
    "a request without an id or of no known type can't be taken",
    arguments: ["<iq type='get'/>", "<iq id='1'/>", "<iq id='1' type='GET'/>", "<iq id='1' type='get' from='@'/>"])
  func wrongRequests(_ xml: String) {
    #expect(throws: StanzaFault.self) { try iq(xml) }
  }

  @Test("a request has exactly one child (RFC 6120 section 8.2.3); an answer may have one or none")
  func payloads() throws {
    #expect(try iq("<iq type='get' id='1'><a xmlns='x'/></iq>").payload?.name == "a")
    #expect(try iq("<iq type='get' id='1'/>").payload == nil)
    #expect(try iq("<iq type='set' id='1'><a xmlns='x'/><b xmlns='x'/></iq>").payload == nil)
    #expect(try iq("<iq type='set' id='1'><a xmlns='x'/><b xmlns='x'/><c xmlns='x'/></iq>").payload == nil)
    #expect(try iq("<iq type='result' id='1'><a xmlns='x'/><b xmlns='x'/></iq>").payload?.name == "a")
    let error = try iq("<iq type='error' id='1'><error type='wait'/><a xmlns='x'/></iq>")
    #expect(error.payload?.name == "a")
    #expect(error.error == StanzaError(.wait, .undefinedCondition))
  }

  @Test("an answer goes to the sender, under the request's id")
  func answers() throws {
    let request = try iq("<iq type='get' id='1' from='a@b.example/c'><a xmlns='x'/></iq>")
    #expect(request.result().xml == "<iq xmlns='jabber:client' type='result' id='1' to='a@b.example/c'/>")
    let refusal = request.refusal(StanzaError(.cancel, .serviceUnavailable, "no"))
    let read = try IQ(Element(parsing: refusal.xml))
    #expect(read.id == "1" && read.kind == .error && read.to == request.from)
    #expect(read.error == StanzaError(.cancel, .serviceUnavailable, "no"))
  }

  // MARK: - Errors

  @Test("of an error's text no more is read than anybody wants to see in a log")
  func longErrors() throws {
    let text = String(repeating: "é", count: 5_000)
    let error = try iq(
      """
      <iq type='error' id='1'><error type='cancel'><forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
      <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>\(text)</text></error></iq>
      """
    ).error
    #expect(error?.text?.count == 200)
  }

  @Test("what is missing or unknown in an error becomes undefined-condition, whoever made it up")
  func vagueErrors() throws {
    let vague = [
      "", "<error/>", "<error type='mad'/>", "<error type='cancel'><item-not-found/></error>",
      "<error type='cancel'><mad xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>",
      "<error xmlns='other' type='wait'/>",
    ]
    for error in vague {
      #expect(try iq("<iq type='error' id='1'>\(error)</iq>").error == StanzaError(.cancel, .undefinedCondition))
    }
  }

  @Test("the server's words come with the condition, in the description, too")
  func words() throws {
    let error = try iq(
      """
      <iq type='error' id='1'><error type='modify'><text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>Why</text>
      <not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/><extra xmlns='x'/></error></iq>
      """
    ).error
    #expect(error == StanzaError(.modify, .notAcceptable, "Why"))
    #expect(error?.description == "not-acceptable (Why)")
  }

  @Test("a stream error has its condition, text and host; without any it is undefined")
  func streamErrors() throws {
    let error = StreamError(
      try Element(
        parsing: """
          <error xmlns='http://etherx.jabber.org/streams'>
          <see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>[::1]:5222</see-other-host>
          <text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>there</text><x xmlns='y'/></error>
          """))
    #expect(error.condition == "see-other-host" && error.otherHost == "[::1]:5222" && error.text == "there")
    #expect(StreamError(Element("error", Namespace.stream)).condition == "undefined-condition")
    let written = StreamError("policy-violation", "too <much>")
    #expect(StreamError(try Element(parsing: written.element.xml)) == written)
  }
}
