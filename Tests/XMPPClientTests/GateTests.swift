import EventLoop
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("What gets through to the bot, and what does not")
struct GateTests {
  init() { LoopThread.start() }

  @Test("a message from a resource that PRECIS refuses is a message")
  @LoopActor func emojiResource() throws {
    try Conversation.online().play(
      """
      server: <message from='alice@example.org/\u{1F468}\u{200D}\u{1F4BB} \u{2764}\u{FE0F}' type='chat'><body>hi</body></message>
      event: message from alice@example.org/\u{1F468}\u{200D}\u{1F4BB} \u{2764}\u{FE0F}: hi
      """)
  }

  @Test("what our own nodes tell us, and our own presence, are passed over in silence")
  @LoopActor func ownEvents() throws {
    let conversation = try Conversation.online()
    let before = conversation.events
    try conversation.play(
      """
      server: <message from='bot@example.org' to='bot@example.org/r' type='headline'>
       <event xmlns='http://jabber.org/protocol/pubsub#event'><items node='x'/></event></message>
      server: <presence from='bot@example.org/r' to='bot@example.org/r'/>
      server: <presence/>
      the bot says nothing
      """)
    #expect(conversation.events == before)
  }

  @Test("an event of somebody else's is refused (CVE-2023-28686)")
  @LoopActor func foreignEvent() throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <message from='eve@evil.example'><event xmlns='http://jabber.org/protocol/pubsub#event'>
       <items node='storage:bookmarks'/></event><body>join</body></message>
      event: refused: an event of eve@evil.example
      """)
    #expect(conversation.events.isEmpty)
  }

  @Test("what is addressed to somebody else is refused, whatever it is")
  @LoopActor func misdelivered() throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <presence type='subscribe' from='eve@evil.example' to='carol@example.org'/>
      event: refused: a presence to carol@example.org
      server: <iq type='get' id='1' from='eve@evil.example/x' to='carol@example.org'><ping xmlns='urn:xmpp:ping'/></iq>
      event: refused: an iq to carol@example.org
      server: <message from='eve@evil.example/x' to='bot@evil.example'><body>hi</body></message>
      event: refused: a message to bot@evil.example
      the bot says nothing
      """)
  }

  @Test("a roster that somebody asks us for is refused like any request that we don't know")
  @LoopActor func rosterRequest() throws {
    try Conversation.online().play(
      """
      server: <iq type='get' id='r' from='eve@evil.example/x'><query xmlns='jabber:iq:roster'/></iq>
      bot: <iq type='error' id='r' to='eve@evil.example/x'><error type='cancel'>
       <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      """)
  }

  @Test("a request with no child, with two, or of no kind is a bad request")
  @LoopActor func badRequests() throws {
    let conversation = try Conversation.online()
    let bad = [
      "<iq type='get' id='1' from='a@example.org/x'/>",
      "<iq type='get' id='1' from='a@example.org/x'><ping xmlns='urn:xmpp:ping'/><ping xmlns='urn:xmpp:ping'/></iq>",
      "<iq type='mad' id='1' from='a@example.org/x'><ping xmlns='urn:xmpp:ping'/></iq>",
    ]
    for request in bad {
      try conversation.play("server: " + request)
      try conversation.play(
        """
        bot: <iq type='error' id='1' to='a@example.org/x'><error type='modify'>
         <bad-request xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
        """)
    }
  }

  @Test("requests get few answers while the server takes none, and then no more, so that they can't fill the memory")
  @LoopActor func answersNotTaken() throws {
    let conversation = try Conversation.online()
    let ping = "server: <iq type='get' id='p1' from='eve@evil.example/x'><ping xmlns='urn:xmpp:ping'/></iq>"
    conversation.dialer.stream?.unsentBytes = 2_000_000
    for _ in 1...20 { try conversation.play(ping) }
    conversation.skip()
    try conversation.play(ping + "\nthe bot says nothing")
    conversation.dialer.stream?.unsentBytes = 3_000_000
    try conversation.play(ping.replacing("eve@", with: "alice@") + "\nthe bot says nothing")
  }

  @Test("ids of the account's archive count only once the account says that it vouches for them")
  @LoopActor func stanzaIDs() throws {
    let conversation = try Conversation.online()
    let seen = Box<[[String]]>([])
    conversation.onMessage = { message, _ in seen.value.append(message.stanzaIDs.map(\.id)) }
    let message = """
      server: <message from='alice@example.org/x' type='chat'><body>hi</body>
       <stanza-id xmlns='urn:xmpp:sid:0' id='good' by='Bot@Example.org'/>
       <stanza-id xmlns='urn:xmpp:sid:0' id='bad' by='alice@example.org'/></message>
      """
    try conversation.play(message)
    // The domain's word does not count: a server may have archives of rooms only.
    try conversation.play(
      """
      server: <iq type='result' id='$domain' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'>
       <feature var='urn:xmpp:mam:2'/></query></iq>
      """)
    try conversation.play(message)
    try conversation.play(
      """
      server: <iq type='result' id='$own' from='bot@example.org'><query xmlns='http://jabber.org/protocol/disco#info'>
       <feature var='urn:xmpp:sid:0'/></query></iq>
      """)
    try conversation.play(message)
    #expect(seen.value == [[], [], ["good"]])
  }
}
