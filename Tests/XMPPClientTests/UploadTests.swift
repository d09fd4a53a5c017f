import EventLoop
import JID
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("A place for a file on the server (XEP-0363)")
struct UploadTests {
  init() { LoopThread.start() }

  private static let request = UploadRequest(name: "très.txt", size: 10, contentType: "text/plain")

  @LoopActor private final class Answer {
    var results: [Result<UploadSlot, UploadRefusal>] = []
  }

  @LoopActor private func ask(_ conversation: Conversation, _ request: UploadRequest = request) -> Answer {
    let answer = Answer()
    conversation.session.requestSlot(request) { answer.results.append($0) }
    return answer
  }

  private static let discovery = """
    bot: <iq type='get' id='$items' to='example.org'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>
    server: <iq type='result' id='$items' from='example.org'><query xmlns='http://jabber.org/protocol/disco#items'>
     <item jid='rooms.example.org'/><item jid='upload.example.org'/></query></iq>
    bot: <iq type='get' id='$i1' to='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    bot: <iq type='get' id='$i2' to='rooms.example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    bot: <iq type='get' id='$i3' to='upload.example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    server: <iq type='result' id='$i3' from='upload.example.org'><query xmlns='http://jabber.org/protocol/disco#info'>
     <identity category='store' type='file'/><feature var='urn:xmpp:http:upload:0'/><x type='result' xmlns='jabber:x:data'>
     <field var='FORM_TYPE'><value>urn:xmpp:http:upload:0</value></field>
     <field var='max-file-size'><value>1000</value></field></x></query></iq>
    server: <iq type='error' id='$i2' from='rooms.example.org'><error type='cancel'>
     <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
    the bot says nothing
    server: <iq type='result' id='$i1' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    """
  private static let asksForSlot = """
    bot: <iq type='get' id='$slot' to='upload.example.org'><request xmlns='urn:xmpp:http:upload:0' filename='très.txt'
     size='10' content-type='text/plain'/></iq>
    """

  @Test("the service is looked for among the server's items, once, and asked")
  @LoopActor func finds() throws {
    let conversation = try Conversation.online()
    let first = ask(conversation)
    try conversation.play(Self.discovery + "\n" + Self.asksForSlot)
    try conversation.play(
      """
      server: <iq type='result' id='$slot' from='upload.example.org'><slot xmlns='urn:xmpp:http:upload:0'>
       <put url='https://example.org/p'/><get url='https://example.org/g'/></slot></iq>
      """)
    #expect(try first.results.first?.get().get == "https://example.org/g")
    let second = ask(conversation)
    try conversation.play(Self.asksForSlot.replacing("$slot", with: "$other"))
    try conversation.play(
      """
      server: <iq type='error' id='$other' from='upload.example.org'><error type='wait'>
       <resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
       <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>Quota reached</text></error></iq>
      """)
    #expect(
      second.results == [.failure(.refused(StanzaError(.wait, .resourceConstraint, "Quota reached")))])
  }

  @Test("a file that is larger than the service takes is not even asked for")
  @LoopActor func tooLarge() throws {
    let conversation = try Conversation.online()
    let answer = ask(conversation, UploadRequest(name: "x", size: 1_001, contentType: "text/plain"))
    try conversation.play(Self.discovery + "\nthe bot says nothing")
    #expect(answer.results == [.failure(.tooLarge(limit: 1_000))])
  }

  @Test("a slot from anybody but the service is no answer")
  @LoopActor func forged() throws {
    let conversation = try Conversation.online()
    let answer = ask(conversation)
    try conversation.play(Self.discovery + "\n" + Self.asksForSlot)
    try conversation.play(
      """
      server: <iq type='result' id='$slot' from='eve@evil.example/x' to='bot@example.org/r'>
       <slot xmlns='urn:xmpp:http:upload:0'><put url='https://evil.example/p'/><get url='https://evil.example/g'/></slot></iq>
      """)
    #expect(answer.results.isEmpty)
  }

  @Test("a server without one says so, however it says it")
  @LoopActor func none() throws {
    let conversation = try Conversation.online()
    let answer = ask(conversation)
    try conversation.play(
      """
      bot: <iq type='get' id='$items' to='example.org'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>
      server: <iq type='error' id='$items' from='example.org'><error type='cancel'>
       <feature-not-implemented xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      bot: <iq type='get' id='$i' to='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      server: <iq type='result' id='$i' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      """)
    #expect(answer.results == [.failure(.noService)])
  }
}

@Suite("How large a stanza may be (XEP-0478)")
struct StanzaLimitTests {
  init() { LoopThread.start() }

  @Test(
    "the server says it in its features, or not, or nonsense",
    arguments: [
      ("<max-bytes>15000</max-bytes>", 15_000), ("", nil), ("<max-bytes>-1</max-bytes>", nil),
      ("<max-bytes>x</max-bytes>", nil),
    ]
      as [(String, Int?)])
  @LoopActor func limit(said: String, taken: Int?) throws {
    let conversation = Conversation(try Conversation.options())
    let limits = "<limits xmlns='urn:xmpp:stream-limits:0'>\(said)<idle-seconds>1800</idle-seconds></limits>"
    let feature = "<ver xmlns='urn:xmpp:features:rosterver'/>"
    try conversation.play(Greeting.online.replacing(feature, with: limits + feature))
    #expect(conversation.session.stanzaLimit == taken)
  }
}

extension String {
  fileprivate func replacing(_ part: String, with other: String) -> String {
    split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
  }
}
