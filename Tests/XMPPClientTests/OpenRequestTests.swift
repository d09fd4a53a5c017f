import EventLoop
import Testing
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream
import XMPPTesting

@Suite("Requests that are answered later")
struct OpenRequestTests {
  init() { LoopThread.start() }

  /// Takes all that is about `x`, and lets it wait.
  @LoopActor
  private final class Service: RequestService {
    var open: [OpenRequest] = []
    var closed = 0
    unowned let session: Session

    init(_ session: Session) { self.session = session }

    func handles(_ iq: IQ, _ payload: Element) -> Bool { payload.isNamed("x", "x") }

    func answer(_ request: OpenRequest, number: StreamManagement.HandledCount?) {
      session.take(number)
      request.onClosed = { [weak self] in self?.closed += 1 }
      open.append(request)
    }
  }

  @Test("an answer may come later, and comes once; other requests are answered as ever")
  @LoopActor func later() throws {
    let conversation = try Conversation.online()
    let service = Service(conversation.session)
    conversation.session.service = service
    try conversation.play(
      """
      server: <iq type='set' id='1' from='a@example.org/x'><x xmlns='x'/></iq>
      the bot says nothing
      server: <iq type='get' id='2' from='a@example.org/x'><ping xmlns='urn:xmpp:ping'/></iq>
      bot: <iq type='result' id='2' to='a@example.org/x'/>
      """)
    #expect(service.open[0].isOpen)
    #expect(service.open[0].answer(.success(Element("y", "y"))))
    #expect(!service.open[0].answer(.failure(StanzaError(.cancel, .forbidden))))
    try conversation.play(
      """
      bot: <iq type='result' id='1' to='a@example.org/x'><y xmlns='y'/></iq>
      the bot says nothing
      """)
  }

  @Test("only so many of one contact's wait, and of all; one more is refused at once")
  @LoopActor func bounded() throws {
    let conversation = try Conversation.online()
    let service = Service(conversation.session)
    conversation.session.service = service
    for contact in 0..<8 {
      for number in 0..<8 {
        try conversation.play(
          "server: <iq type='set' id='\(number)' from='a\(contact)@example.org/\(number)'><x xmlns='x'/></iq>")
      }
      guard contact == 0 else { continue }
      try conversation.play(
        """
        server: <iq type='set' id='9' from='a0@example.org/x'><x xmlns='x'/></iq>
        bot: <iq type='error' id='9' to='a0@example.org/x'><error type='wait'>
         <resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
         <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$any</text></error></iq>
        """)
    }
    #expect(service.open.count == 64)
    try conversation.play(
      """
      server: <iq type='set' id='10' from='b@example.org/x'><x xmlns='x'/></iq>
      bot: <iq type='error' id='10' to='b@example.org/x'><error type='wait'>
       <resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
       <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$any</text></error></iq>
      """)
    service.open[0].answer(.success(nil))
    try conversation.play(
      """
      bot: <iq type='result' id='0' to='a0@example.org/0'/>
      server: <iq type='set' id='11' from='b@example.org/x'><x xmlns='x'/></iq>
      the bot says nothing
      """)
  }

  @Test("an answer that is longer than the server takes is not sent: an error is, and the service knows")
  @LoopActor func tooLong() throws {
    let conversation = try Conversation.online()
    let service = Service(conversation.session)
    conversation.session.service = service
    for id in 1...2 {
      try conversation.play("server: <iq type='set' id='\(id)' from='a@example.org/x'><x xmlns='x'/></iq>")
    }
    // As XML an ampersand takes five bytes.
    func payload(_ bytes: Int) -> Element {
      let around = "<y xmlns='y'></y>".utf8.count
      return Element(
        "y", "y",
        text: String(repeating: "&", count: (bytes - around) / 5) + String(repeating: "x", count: (bytes - around) % 5))
    }
    let (first, second) = (service.open[0], service.open[1])
    #expect(first.hasRoom(for: payload(first.room)) && !first.hasRoom(for: payload(first.room + 1)))
    #expect(!first.answer(.success(payload(first.room + 1)), token: "t"))
    try conversation.play(
      """
      bot: <iq type='error' id='1' to='a@example.org/x'><error type='modify'>
       <not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
       <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$any</text></error></iq>
      """)
    #expect(second.answer(.success(payload(second.room)), token: "t"))
    // Behind it stands the question whether the server has it.
    let written = conversation.dialer.stream?.written ?? []
    #expect(written.firstRange(of: Array("</iq>".utf8))?.upperBound == 10_000)
    #expect(second.room == 0 && !second.hasRoom(for: Element("y", "y")))
  }

  @Test("a request whose id alone is too long for an answer gets none, whoever would answer")
  @LoopActor func longID() throws {
    let conversation = try Conversation.online()
    let service = Service(conversation.session)
    conversation.session.service = service
    let id = String(repeating: "&apos;", count: 2_000)
    for payload in ["<x xmlns='x'/>", "<ping xmlns='urn:xmpp:ping'/>", "<nonsense xmlns='urn:nonsense'/>"] {
      try conversation.play("server: <iq type='get' id='\(id)' from='a@example.org/x'>\(payload)</iq>")
    }
    #expect(!service.open[0].answer(.success(nil)))
    try conversation.play(
      """
      server: <iq type='get' id='\(id)' from='a@example.org/x'/>
      server: <iq type='get' id='\(id)' from='a@@example.org/x'><ping xmlns='urn:xmpp:ping'/></iq>
      the bot says nothing
      """)
  }

  @Test("an answer that the server has not confirmed is sent again as it was, and its token told once it is")
  @LoopActor func again() throws {
    let conversation = try Conversation.managed()
    let service = Service(conversation.session)
    conversation.session.service = service
    let acknowledged = Box<[String]>([])
    conversation.onAcknowledged = { acknowledged.value += $0 }
    try conversation.play("server: <iq type='set' id='1' from='a@example.org/x'><x xmlns='x'/></iq>")
    service.open[0].answer(.success(nil), token: "t")
    try conversation.play(
      """
      bot: <iq type='result' id='1' to='a@example.org/x'/>
      bot: <r xmlns='urn:xmpp:sm:3'/>
      the connection is lost
      after 0s
      """)
    try conversation.play(Greeting.toLogin + "\n" + Greeting.managedFeatures)
    try conversation.play(
      """
      bot: <resume xmlns='urn:xmpp:sm:3' previd='sm1' h='$any'/>
      server: <resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='4'/>
      bot: <iq type='result' id='1' to='a@example.org/x'/>
      """)
    #expect(acknowledged.value == [])
    try conversation.play("server: <a xmlns='urn:xmpp:sm:3' h='5'/>")
    #expect(acknowledged.value == ["t"])
  }

  @Test("when the stream is resumed the answer is still heard; on a new one it is refused, and the service knows")
  @LoopActor func streams() throws {
    let conversation = try Conversation.managed()
    let service = Service(conversation.session)
    conversation.session.service = service
    try conversation.play("server: <iq type='set' id='1' from='a@example.org/x'><x xmlns='x'/></iq>")
    try conversation.play("the connection is lost\nafter 10s\n" + Greeting.toLogin + "\n" + Greeting.managedFeatures)
    try conversation.play(
      """
      bot: <resume xmlns='urn:xmpp:sm:3' previd='sm1' h='$any'/>
      server: <resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='4'/>
      """)
    #expect(service.open[0].isOpen && service.closed == 0)
    try conversation.play("the connection is lost\nafter 10s\n" + Greeting.toLogin + "\n" + Greeting.managedFeatures)
    try conversation.play(
      """
      bot: <resume xmlns='urn:xmpp:sm:3' previd='sm1' h='$any'/>
      server: <failed xmlns='urn:xmpp:sm:3'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>
      bot: <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      bot: <enable xmlns='urn:xmpp:sm:3' resume='true'/>
      server: <enabled xmlns='urn:xmpp:sm:3' id='sm2' resume='true'/>
      bot: <iq type='error' id='1' to='a@example.org/x'><error type='wait'>
       <recipient-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>
       <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$any</text></error></iq>
      """)
    #expect(!service.open[0].isOpen && service.closed == 1)
    #expect(!service.open[0].answer(.success(nil)))
  }
}
