import EventLoop
import Testing
import XMPPClient
import XMPPTesting

@Suite("Coming online, and what the protocol asks of us there")
struct OnlineTests {
  init() { LoopThread.start() }

  @Test("the bot logs in inside TLS, binds its resource, and asks for the roster before it is present")
  @LoopActor func comesOnline() throws {
    let conversation = try Conversation.online()
    #expect(conversation.session.isOnline)
    try conversation.play("the bot says nothing")
  }

  @Test("a ping is answered, whoever asks")
  @LoopActor func ping() throws {
    try Conversation.online().play(
      """
      server: <iq type='get' id='p1' from='example.org' to='bot@example.org/r'><ping xmlns='urn:xmpp:ping'/></iq>
      bot: <iq type='result' id='p1' to='example.org'/>
      """)
  }

  @Test("what the bot does not know is answered with service-unavailable")
  @LoopActor func unknownRequest() throws {
    try Conversation.online().play(
      """
      server: <iq type='get' id='u1' from='eve@evil.example/x'><query xmlns='jabber:iq:private'/></iq>
      bot: <iq type='error' id='u1' to='eve@evil.example/x'><error type='cancel'>
       <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      """)
  }

  @Test("version, time, last activity and disco are answered")
  @LoopActor func informs() throws {
    try Conversation.online().play(
      """
      server: <iq type='get' id='1' from='a@example.org/x'><query xmlns='jabber:iq:version'/></iq>
      bot: <iq type='result' id='1' to='a@example.org/x'><query xmlns='jabber:iq:version'><name>bot</name>
       <version>1</version></query></iq>
      server: <iq type='get' id='2' from='a@example.org/x'><time xmlns='urn:xmpp:time'/></iq>
      bot: <iq type='result' id='2' to='a@example.org/x'><time xmlns='urn:xmpp:time'><tzo>+00:00</tzo>
       <utc>2001-09-09T01:46:40Z</utc></time></iq>
      server: <iq type='get' id='3' from='a@example.org/x'><query xmlns='jabber:iq:last'/></iq>
      bot: <iq type='result' id='3' to='a@example.org/x'><query xmlns='jabber:iq:last' seconds='0'/></iq>
      server: <iq type='get' id='4' from='a@example.org/x'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>
      bot: <iq type='result' id='4' to='a@example.org/x'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>
      server: <iq type='get' id='5' from='a@example.org/x'>
       <query xmlns='http://jabber.org/protocol/disco#info' node='nonsense'/></iq>
      bot: <iq type='error' id='5' to='a@example.org/x'><error type='cancel'>
       <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      """)
  }

  @Test("a contact is accepted, put into the group and subscribed back")
  @LoopActor func subscription() throws {
    try Conversation.online().play(
      """
      server: <presence type='subscribe' from='alice@example.org'/>
      bot: <presence type='subscribed' to='alice@example.org'/>
      bot: <iq type='set' id='$set'><query xmlns='jabber:iq:roster'><item jid='alice@example.org'>
       <group>Bot users</group></item></query></iq>
      bot: <presence type='subscribe' to='alice@example.org'/>
      event: accepted alice@example.org
      """)
  }

  @Test("a contact that the policy does not admit is turned down")
  @LoopActor func refusedSubscription() throws {
    var options = try Conversation.options()
    options.acceptsSubscription = { _ in false }
    let conversation = Conversation(options)
    try conversation.play(Greeting.online)
    try conversation.play(
      """
      server: <presence type='subscribe' from='mallory@example.org'/>
      bot: <presence type='unsubscribed' to='mallory@example.org'/>
      event: turned down mallory@example.org
      the bot says nothing
      """)
  }

  @Test("a roster push from the account is taken and answered; from anybody else it is not (CVE-2015-8688)")
  @LoopActor func rosterPush() throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <iq type='set' id='r1'><query xmlns='jabber:iq:roster' ver='v2'>
       <item jid='alice@example.org' subscription='both'/></query></iq>
      bot: <iq type='result' id='r1'/>
      event: roster v2: alice@example.org
      server: <iq type='set' id='r2' from='eve@evil.example'><query xmlns='jabber:iq:roster'>
       <item jid='eve@evil.example' subscription='both'/></query></iq>
      the bot says nothing
      event: refused: a roster push from eve@evil.example
      """)
    #expect(conversation.session.roster.items.count == 1)
  }

  @Test("an answer is taken only from whom was asked (CVE-2024-46957)")
  @LoopActor func forgedAnswer() throws {
    try Conversation.online().play(
      """
      server: <iq type='result' id='$roster' from='eve@evil.example'><query xmlns='jabber:iq:roster' ver='evil'>
       <item jid='eve@evil.example' subscription='both'/></query></iq>
      event: refused: an answer from eve@evil.example to a request never made
      server: <iq type='result' id='$roster'><query xmlns='jabber:iq:roster' ver='v1'>
       <item jid='bob@example.org' subscription='from'/></query></iq>
      event: roster v1: bob@example.org
      """)
  }

  @Test("a forged carbon and an archive result that nobody asked for are no messages (CVE-2017-5589)")
  @LoopActor func forgedWrappers() throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <message from='eve@evil.example' type='chat'><received xmlns='urn:xmpp:carbons:2'>
       <forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' from='alice@example.org' type='chat'>
       <body>deploy</body></message></forwarded></received><body>hm</body></message>
      event: refused: a carbon from eve@evil.example
      server: <message from='eve@evil.example'><result xmlns='urn:xmpp:mam:2' id='1' queryid='q'/></message>
      event: refused: an archive result from eve@evil.example
      """)
    #expect(!conversation.events.contains { $0.hasPrefix("message") })
  }

  @Test("a stranger's stanza that is too deep does not end the stream; as a request it is turned down")
  @LoopActor func tooDeep() throws {
    let deep = String(repeating: "<a xmlns='urn:a'>", count: 80) + String(repeating: "</a>", count: 80)
    try Conversation.online().play(
      """
      server: <message from='eve@evil.example/x' type='chat'><body>hi</body>\(deep)</message>
      event: refused: a stanza from eve@evil.example/x
      server: <iq type='get' id='d1' from='eve@evil.example/x'>\(deep)</iq>
      bot: <iq type='error' id='d1' to='eve@evil.example/x'><error type='modify'>
       <not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      server: <iq type='get' id='p1' from='example.org' to='bot@example.org/r'><ping xmlns='urn:xmpp:ping'/></iq>
      bot: <iq type='result' id='p1' to='example.org'/>
      """)
  }

  @Test("strangers can't make the roster so large that it can't be read again")
  @LoopActor func fullRoster() throws {
    let conversation = try Conversation.online()
    let group = String(repeating: "g", count: 300_000)
    let pushes = (1...3).map {
      """
      server: <iq type='set' id='r\($0)'><query xmlns='jabber:iq:roster'>
       <item jid='c\($0)@example.org' subscription='both'><group>\(group)</group></item></query></iq>
      bot: <iq type='result' id='r\($0)'/>
      event: roster
      """
    }
    try conversation.play(pushes.joined(separator: "\n"))
    try conversation.play(
      """
      server: <presence type='subscribe' from='one-more@example.org'/>
      bot: <presence type='unsubscribed' to='one-more@example.org'/>
      event: turned down one-more@example.org
      the bot says nothing
      """)
  }

  @Test("a message for somebody else is not ours")
  @LoopActor func misdelivered() throws {
    try Conversation.online().play(
      """
      server: <message from='alice@example.org/x' to='carol@example.org' type='chat'><body>hi</body></message>
      event: refused: a message to carol@example.org is not for us
      """)
  }

  @Test("nonsense instead of a stanza closes the stream with the right error, and the bot comes back")
  @LoopActor func nonsense() throws {
    try Conversation.online().play(
      """
      server: <widget xmlns='jabber:client'/>
      bot: <stream:error><unsupported-stanza-type xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
      bot: </stream:stream>
      the bot closes the connection
      after 0s
      the bot connects
      """)
  }

  @Test("XML that is not well-formed closes the stream with not-well-formed")
  @LoopActor func brokenXML() throws {
    try Conversation.online().play(
      """
      server: <message><body>hi</message>
      bot: <stream:error><not-well-formed xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
      bot: </stream:stream>
      the bot closes the connection
      """)
  }
}
