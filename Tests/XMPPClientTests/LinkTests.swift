import EventLoop
import Testing
import XMPPClient
import XMPPTesting

@Suite("A link that dies, is paused, or moves")
struct LinkTests {
  init() { LoopThread.start() }

  @Test("a change of the network makes the link doubtful: it is tried at once, and once")
  @LoopActor func doubtful() throws {
    let conversation = try Conversation.online()
    try conversation.play("after 5s\nthe bot says nothing")
    conversation.session.networkChanged()
    conversation.session.networkChanged()
    try conversation.play(
      """
      bot: <iq type='get' id='$ping' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>
      the bot says nothing
      after 20s
      event: waiting 0.0 seconds: the server stopped answering
      """)
  }

  @Test("silence that is ours, since we do not read, is no sign of a dead link")
  @LoopActor func paused() throws {
    let conversation = try Conversation.online()
    try conversation.play(Greeting.answered)
    conversation.session.setReading(false)
    #expect(conversation.dialer.stream?.isReading == false)
    try conversation.play("after 600s\nthe bot says nothing")
    conversation.session.setReading(true)
    #expect(conversation.dialer.stream?.isReading == true)
    try conversation.play(
      """
      after 59s
      the bot says nothing
      after 1s
      bot: <iq type='get' id='$ping' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>
      """)
  }

  @Test("a login is read to its end while reading is paused; then nothing more")
  @LoopActor func pausedLogin() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toLogin)
    conversation.session.setReading(false)
    #expect(conversation.dialer.stream?.isReading == true)
    try conversation.play(Greeting.binding)
    try conversation.play(
      """
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      event: online
      """)
    #expect(conversation.dialer.stream?.isReading == false)
  }

  @Test("a server that hangs up on STARTTLS before its first word may want direct TLS, and the operator is told")
  @LoopActor func directPort() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(
      """
      the bot connects
      bot: <stream:stream>
      the connection is lost
      event: waiting 0.5 seconds: the connection was lost: reset before the server said a word; a port for direct TLS \
      needs tls = direct
      """)
  }

  private let redirection = """
    server: <stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>
     b.example.org:5299</see-other-host></stream:error>
    bot: </stream:stream>
    """

  @Test("a server that lets us in only to send us on does not turn us in circles for ever")
  @LoopActor func redirectedOnline() throws {
    let conversation = try Conversation.online()
    for _ in 1...5 {
      try conversation.play(redirection)
      try conversation.play(Greeting.online)
    }
    try conversation.play(redirection)
    try conversation.play("event: waiting")
    #expect(conversation.dialer.requests.count == 6)
  }

  @Test("a server that moves us after a good while may do so again and again; a loss leads back to the first")
  @LoopActor func redirectedInGoodTime() throws {
    let conversation = try Conversation.online()
    for _ in 1...10 {
      try conversation.play(Greeting.answered + "\nafter 40s\n" + redirection)
      try conversation.play(Greeting.online)
    }
    #expect(conversation.dialer.requests.last?.host == "b.example.org")
    #expect(conversation.dialer.requests.last?.port == 5299)
    try conversation.play("the connection is lost\nafter 0s")
    #expect(conversation.dialer.requests.last?.host == nil)
  }

  @Test("what names no host is not followed", arguments: ["", " ", ":5222", "[::1", "[::1]x", "a:0", "a:99999", "a:b"])
  @LoopActor func redirectedNowhere(_ host: String) throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(
      """
      the bot connects
      bot: <stream:stream>
      server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
       xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>
      server: <stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>\(host)</see-other-host></stream:error>
      event: waiting
      """)
    #expect(conversation.dialer.requests.count == 1)
  }

  @Test("when one of the domain's servers fails before we are online, the next is tried at once")
  @LoopActor func nextServer() throws {
    let conversation = Conversation(try Conversation.options())
    conversation.dialer.hasNext = true
    try conversation.play(
      """
      the bot connects
      bot: <stream:stream>
      the connection is lost
      event: tries the next server: the connection was lost: reset
      """)
    try conversation.play(Greeting.online)
  }
}
