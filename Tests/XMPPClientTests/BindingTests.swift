import EventLoop
import Testing
import XMPPClient
import XMPPTesting

@Suite("Binding a resource")
struct BindingTests {
  init() { LoopThread.start() }

  @LoopActor private func binding() throws -> Conversation {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toBinding)
    return conversation
  }

  @Test("when our resource is taken or not allowed, the server makes one", arguments: ["conflict", "not-allowed"])
  @LoopActor func fallback(_ condition: String) throws {
    let conversation = try binding()
    try conversation.play(
      """
      server: <iq type='error' id='bind'><error type='cancel'>
       <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      bot: <iq type='set' id='bind-any'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>
      server: <iq type='result' id='bind-any'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/made \u{2764}\u{FE0F}</jid></bind></iq>
      event: online as bot@example.org/made \u{2764}\u{FE0F}
      """)
  }

  @Test("it is asked to do so once")
  @LoopActor func fallbackOnce() throws {
    let conversation = try binding()
    try conversation.play(
      """
      server: <iq type='error' id='bind'><error type='cancel'>
       <conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      bot: <iq type='set' id='bind-any'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>
      server: <iq type='error' id='bind-any'><error type='cancel'>
       <conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      bot: </stream:stream>
      event: waiting 60.0 seconds: the server gave us no resource: conflict
      """)
  }

  @Test("a server without room for one more session is asked again later")
  @LoopActor func noRoom() throws {
    let conversation = try binding()
    try conversation.play(
      """
      server: <iq type='error' id='bind'><error type='wait'>
       <resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      bot: </stream:stream>
      event: waiting 0.5 seconds: the server gave us no resource: resource-constraint
      """)
  }

  private let session = "<session xmlns='urn:ietf:params:xml:ns:xmpp-session'"

  @Test("a server of RFC 3921's time gets the session that it wants before anything else")
  @LoopActor func oldServer() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toLogin)
    try conversation.play(
      """
      server: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>\(session)/></stream:features>
      bot: <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      bot: <iq type='set' id='session'>\(session)/></iq>
      the bot says nothing
      server: <iq type='result' id='session' from='example.org'/>
      event: online as bot@example.org/r
      bot: <iq type='get' id='$own' to='bot@example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      bot: <iq type='get' id='$domain' to='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      bot: <iq type='get' id='$roster'><query xmlns='jabber:iq:roster'/></iq>
      """)
  }

  @Test("a session that is optional is left out")
  @LoopActor func optionalSession() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toLogin)
    try conversation.play(
      """
      server: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>
       \(session)><optional/></session></stream:features>
      bot: <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      event: online as bot@example.org/r
      """)
  }

  @Test(
    "an address that is not ours is not taken",
    arguments: [
      "eve@example.org/r", "bot@example.org", "bot@example.org/", "example.org/r", "", "bot@b\u{43E}t.example/r",
    ])
  @LoopActor func foreign(_ jid: String) throws {
    let conversation = try binding()
    try conversation.play(
      """
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>\(jid)</jid></bind></iq>
      bot: <stream:error><undefined-condition xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
      bot: </stream:stream>
      the bot closes the connection
      """)
  }
}
