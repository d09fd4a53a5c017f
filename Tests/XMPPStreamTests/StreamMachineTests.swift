import JID
import SASL
import Testing
import XML
import XMPPStanzas
import XMPPStream

@Suite("Negotiating a stream")
struct StreamMachineTests {
  private let startTLS = "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"
  private let bind = "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>"
  private let plain = "AGJvdABwZW5jaWw="

  @Test("from the first header to being online, each phase in its turn")
  func wholeWay() throws {
    var dialogue = try Dialogue()
    dialogue.connect()
    #expect(dialogue.actions() == ["phase: the stream header", "open"])
    dialogue.open()
    try dialogue.receive(startTLS)
    #expect(dialogue.actions() == ["phase: STARTTLS", "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"])
    try dialogue.receive("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
    #expect(dialogue.actions() == ["phase: the TLS handshake", "start TLS"])
    dialogue.secure()
    #expect(dialogue.actions() == ["phase: the stream header", "open with from"])
    dialogue.open()
    try dialogue.receive(mechanisms("PLAIN"))
    #expect(
      dialogue.actions() == [
        "phase: the login", "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>\(plain)</auth>",
      ])
    try dialogue.receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
    #expect(dialogue.actions() == ["phase: the stream header", "open with from"])
    dialogue.open()
    try dialogue.receive(bind)
    #expect(
      dialogue.actions() == [
        "phase: binding the resource",
        "<iq xmlns='jabber:client' type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
          + "<resource>r</resource></bind></iq>",
      ])
    #expect(!dialogue.machine.isOnline)
    try dialogue.receive(
      "<iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>bot@example.org/r</jid></bind></iq>"
    )
    #expect(dialogue.actions() == ["online as bot@example.org/r"])
    #expect(dialogue.machine.isOnline)
    #expect(dialogue.machine.login?.floor.mechanism == .plain)
  }

  @Test("with direct TLS the login begins at once; the address is told only inside TLS")
  func directTLS() throws {
    var dialogue = try Dialogue()
    dialogue.connect(tls: ChannelBindingData())
    #expect(dialogue.actions() == ["phase: the stream header", "open with from"])
    dialogue.open()
    try dialogue.receive(mechanisms("PLAIN"))
    #expect(dialogue.actions().first == "phase: the login")
  }

  @Test("each phase has a deadline")
  func deadlines() {
    for phase in [
      StreamMachine.Phase.header, .startTLS, .handshake, .authentication, .bind, .session,
    ] {
      #expect(phase.deadline > .zero && phase.deadline <= .seconds(30))
    }
  }

  @Test("features that are unknown are skipped, known ones are found among them")
  func unknownFeatures() throws {
    var dialogue = try Dialogue.secured(goal: .features)
    try dialogue.receive(
      mechanisms(
        "X-MAD", "SCRAM-SHA-256",
        also: """
          <compression xmlns='http://jabber.org/features/compress'><method>zlib</method></compression>
          <sm xmlns='urn:xmpp:sm:3'/><mad xmlns='x'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></mad>
          """))
    #expect(dialogue.actions() == ["features: X-MAD SCRAM-SHA-256"])
    #expect(dialogue.machine.isOnline)
  }

  @Test("without TLS nothing is said that matters, though the server offers PLAIN")
  func noTLS() throws {
    var dialogue = try Dialogue()
    dialogue.connect()
    dialogue.open()
    _ = dialogue.actions()
    try dialogue.receive(mechanisms("PLAIN", "SCRAM-SHA-1"))
    #expect(dialogue.actions() == ["fail: \(StreamFailure.tlsMissing)"])
  }

  @Test("a server that can't start TLS is left")
  func tlsFailure() throws {
    var dialogue = try Dialogue()
    dialogue.connect()
    dialogue.open()
    try dialogue.receive(startTLS + "<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
    #expect(dialogue.actions().last?.hasPrefix("fail: the server could not start TLS") == true)
  }

  @Test(
    "a version that is not 1.x is refused (RFC 6120 section 4.7.5)",
    arguments: [nil, "", "0.9", "10.0", "2.0", "1", "1.0", "1.7"])
  func versions(_ version: String?) throws {
    var dialogue = try Dialogue()
    dialogue.connect()
    _ = dialogue.actions()
    dialogue.open(version: version)
    let isRight = version == "1" || version?.hasPrefix("1.") == true
    #expect(dialogue.actions() == (isRight ? [] : ["violation: unsupported-version"]))
  }

  @Test("what begins with anything but a stream is none, and a stream begins once")
  func headers() throws {
    var dialogue = try Dialogue()
    dialogue.connect()
    _ = dialogue.actions()
    dialogue.note(dialogue.machine.opened(Element("html", "http://www.w3.org/1999/xhtml")))
    #expect(dialogue.actions() == ["violation: invalid-namespace"])
    var second = try Dialogue()
    second.connect()
    second.open()
    _ = second.actions()
    second.open()
    #expect(second.actions() == ["violation: invalid-xml"])
  }

  @Test("an error of the stream ends any phase, and nothing follows")
  func streamErrors() throws {
    let error = "<stream:error><host-unknown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
    var early = try Dialogue()
    early.connect()
    _ = early.actions()
    try early.receive(error)
    #expect(early.actions() == ["fail: \(StreamFailure.streamError(StreamError("host-unknown")))"])
    early.open()
    try early.receive(startTLS + error)
    early.note(early.machine.closed())
    #expect(early.actions().isEmpty)
    var late = try Dialogue.secured()
    try late.receive(mechanisms("PLAIN") + error)
    #expect(late.actions().last?.hasPrefix("fail: the server does not serve this domain") == true)
  }

  @Test("see-other-host is no error where it names a host, and one where it does not")
  func seeOtherHost() throws {
    func outcome(_ host: String) throws -> String? {
      var dialogue = try Dialogue()
      dialogue.connect()
      try dialogue.receive(
        "<stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>\(host)</see-other-host></stream:error>"
      )
      return dialogue.actions().last
    }
    #expect(try outcome("b.example.org") == "fail: \(StreamFailure.redirected(to: "b.example.org"))")
    #expect(try outcome("")?.hasPrefix("fail: the server ended the stream") == true)
  }

  @Test(
    "what does not belong into a phase ends the stream",
    arguments: [
      "<message/>", "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>", "<iq type='result' id='bind'/>",
      "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>", "<features xmlns='other'/>",
    ])
  func outOfTurn(_ xml: String) throws {
    var dialogue = try Dialogue.secured()
    try dialogue.receive(xml)
    #expect(dialogue.actions() == ["violation: unsupported-stanza-type"])
  }

  @Test("a handshake that nobody began changes nothing")
  func unaskedHandshake() throws {
    var dialogue = try Dialogue()
    dialogue.connect()
    _ = dialogue.actions()
    dialogue.secure()
    #expect(dialogue.actions().isEmpty)
  }

  @Test("the server may close the stream at any time")
  func closed() throws {
    var dialogue = try Dialogue.secured()
    dialogue.note(dialogue.machine.closed())
    #expect(dialogue.actions() == ["fail: \(StreamFailure.closed)"])
  }

  @Test("an account whose address needs them has its header's quotes and brackets intact")
  func header() throws {
    var dialogue = try Dialogue(jid: "b\u{F6}t@b\u{FC}cher.example")
    var headers: [String] = []
    for case .open(let header) in dialogue.machine.connected(tls: ChannelBindingData()) { headers.append(header) }
    #expect(
      headers == [
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
          + " to='b\u{FC}cher.example' from='b\u{F6}t@b\u{FC}cher.example' version='1.0' xml:lang='en'>"
      ])
  }
}
