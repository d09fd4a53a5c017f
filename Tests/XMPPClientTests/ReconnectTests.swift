import EventLoop
import JID
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("Staying online")
struct ReconnectTests {
  init() { LoopThread.start() }

  @Test("a lost connection is taken up again at once")
  @LoopActor func lost() throws {
    try Conversation.online().play(
      """
      the connection is lost
      after 0s
      the bot connects
      """)
  }

  @Test("whoever is about to stop makes no other connection, whatever happens")
  @LoopActor func last() throws {
    let conversation = try Conversation.online()
    conversation.session.connectNoMore()
    try conversation.play("the connection is lost\nafter 600s")
    conversation.session.networkChanged()
    conversation.session.retry()
    #expect(conversation.dialer.requests.count == 1)
    conversation.session.stop()
    #expect(conversation.events.last == "stopped")
  }

  @Test("attempts go on for ever when the very first connection fails, further and further apart")
  @LoopActor func neverGivesUp() throws {
    let conversation = Conversation(try Conversation.options(), random: 0.5)
    for _ in 0..<50 { try conversation.play("the bot cannot connect: no route\nafter 30s") }
    try conversation.play("the bot connects")
    #expect(conversation.dialer.requests.count == 51)
    let waits = conversation.events.filter { $0.hasPrefix("waiting") }
    #expect(waits.first == "waiting 0.5 seconds: no route")
    #expect(waits.last == "waiting 30.0 seconds: no route")
  }

  @Test("a network that comes back is used at once")
  @LoopActor func networkChange() throws {
    let conversation = Conversation(try Conversation.options())
    for _ in 0..<8 { try conversation.play("the bot cannot connect: no route\nafter 30s") }
    try conversation.play("the bot cannot connect: no route")
    conversation.session.networkChanged()
    try conversation.play("the bot connects")
  }

  @Test("a wrong password is not hammered")
  @LoopActor func wrongPassword() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toTLS)
    try conversation.play(
      """
      server: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>
       <mechanism>PLAIN</mechanism></mechanisms></stream:features>
      bot: <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGJvdABzZWNyZXQ=</auth>
      server: <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>
      bot: </stream:stream>
      event: waiting 60.0 seconds: the server refused the login: not-authorized
      after 59s
      """)
    #expect(conversation.dialer.requests.count == 1)
    conversation.session.networkChanged()
    #expect(conversation.dialer.requests.count == 1)
    try conversation.play("after 2s\nthe bot connects")
  }

  @Test("somebody who mended it need not wait: an attempt is made at once, and only if there is none")
  @LoopActor func retry() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play("the bot cannot connect: no route")
    conversation.session.retry()
    try conversation.play("the bot connects")
    conversation.session.retry()
    #expect(conversation.dialer.requests.count == 2)
  }

  @Test("a resource that another client took is not fought over")
  @LoopActor func conflict() throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>
      bot: </stream:stream>
      after 299s
      """)
    #expect(conversation.dialer.requests.count == 1)
  }

  @Test("see-other-host is followed, five hops at most")
  @LoopActor func redirects() throws {
    let conversation = Conversation(try Conversation.options())
    for hop in 1...6 {
      try conversation.play(
        """
        the bot connects
        bot: <stream:stream>
        server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
         xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>
        server: <stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>[2001:db8::\(hop)]:5\(hop)</see-other-host></stream:error>
        bot: </stream:stream>
        """)
    }
    #expect(
      conversation.dialer.requests.map(\.host) == [
        nil, "2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4", "2001:db8::5",
      ])
    #expect(conversation.dialer.requests.last?.port == 55)
    #expect(conversation.dialer.requests.allSatisfy { $0.domain == "example.org" })
    try conversation.play("event: waiting")
  }

  @Test("silence is met with a ping after the interval, and with a new connection after the time-out")
  @LoopActor func deadLink() throws {
    try Conversation.online().play(
      Greeting.answered + """

        after 60s
        bot: <iq type='get' id='$ping' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>
        after 19s
        the bot says nothing
        after 1s
        the bot closes the connection
        event: waiting 0.0 seconds: the server stopped answering
        """)
  }

  @Test("on a narrow link a ping that stands behind answers is waited for, while the server takes them")
  @LoopActor func narrowLink() throws {
    let conversation = try Conversation.online()
    try conversation.play(Greeting.answered)
    let text = String(repeating: "x", count: 50_000)
    conversation.session.send(Message(.chat, to: try JID("alice@example.org"), id: "long", body: text).element)
    conversation.skip()
    conversation.dialer.stream?.undeliveredBytes = 50_000
    try conversation.play("after 60s\nbot: <iq type='get' id='$p' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>")
    conversation.dialer.stream?.undeliveredBytes = 20_000
    try conversation.play("after 20s")
    #expect(conversation.session.isOnline, "it takes what comes before")
    conversation.dialer.stream?.undeliveredBytes = 0
    try conversation.play("after 20s")
    #expect(conversation.session.isOnline, "it has the ping now")
    try conversation.play("after 20s")
    #expect(!conversation.session.isOnline)
  }

  @Test("any byte shows that the link lives, even white space")
  @LoopActor func whiteSpace() throws {
    let conversation = try Conversation.online()
    try conversation.play(Greeting.answered)
    try conversation.play("after 60s\nbot: <iq type='get' id='$p' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>")
    conversation.dialer.stream?.deliver(" ")
    try conversation.play("after 59s\nthe bot says nothing")
    #expect(conversation.session.isOnline)
  }

  @Test("a server that offers no TLS gets no password (CVE-2016-10027)")
  @LoopActor func tlsStripped() throws {
    try Conversation(try Conversation.options()).play(
      """
      the bot connects
      bot: <stream:stream>
      server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
       xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>
      server: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>
       <mechanism>PLAIN</mechanism></mechanisms></stream:features>
      bot: </stream:stream>
      the bot closes the connection
      event: waiting 60.0 seconds: the server offers no TLS
      """)
  }

  @Test("what was put in behind <proceed/> ends the attempt (CVE-2011-0411)")
  @LoopActor func injection() throws {
    try Conversation(try Conversation.options()).play(
      """
      the bot connects
      bot: <stream:stream>
      server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
       xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>
      server: <stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
      bot: <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
      server: <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/><message><body>evil</body></message>
      the bot closes the connection
      event: waiting 0.5 seconds: data was put in before TLS began
      """)
  }

  @Test("each phase has a deadline: a server that never greets is left")
  @LoopActor func mute() throws {
    try Conversation(try Conversation.options()).play(
      """
      the bot connects
      bot: <stream:stream>
      after 15s
      bot: <stream:error><connection-timeout xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
      bot: </stream:stream>
      the bot closes the connection
      event: waiting 0.5 seconds: the server took too long over the stream header
      """)
  }

  @Test("a server that binds a foreign address is refused")
  @LoopActor func foreignBinding() throws {
    let conversation = Conversation(try Conversation.options())
    let upToBind = Greeting.online.split(separator: "<jid>")[0] + "<jid>eve@evil.example/r</jid></bind></iq>"
    try conversation.play(String(upToBind))
    try conversation.play(
      """
      bot: <stream:error><undefined-condition xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
      bot: </stream:stream>
      the bot closes the connection
      """)
  }
}
