import EventLoop
import JID
import Testing
import XMPPClient
import XMPPStanzas
import XMPPStream
import XMPPTesting

/// XEP-0198, seen from the server.
@Suite("Stream management")
struct ResumptionTests {
  init() { LoopThread.start() }

  private static let sm = "urn:xmpp:sm:3"
  private static let hello = "<message from='alice@example.org/x' type='chat'><body>hello</body></message>"

  private func message(_ id: String) throws -> Message {
    Message(.chat, to: try JID("alice@example.org"), id: id, body: "text")
  }

  /// From the loss until the bot asks for the session.
  private func resuming(h: Int) -> String {
    "after 0s\n" + Greeting.toLogin + "\n" + Greeting.managedFeatures
      + "\nbot: <resume xmlns='urn:xmpp:sm:3' h='\(h)' previd='sm1'/>"
  }

  @Test("the server is told of a message when it is stored, not before")
  @LoopActor func storedFirst() throws {
    let conversation = try Conversation.managed()
    conversation.isDiskSlow = true
    try conversation.play(
      """
      server: \(Self.hello)
      server: <r xmlns='\(Self.sm)'/>
      the bot says nothing
      """)
    conversation.store()
    try conversation.play("bot: <a xmlns='\(Self.sm)' h='1'/>")
  }

  @Test("what is not archived counts, too, once the count is stored")
  @LoopActor func otherStanzas() throws {
    let conversation = try Conversation.managed()
    conversation.isDiskSlow = true
    try conversation.play(
      """
      server: <presence from='alice@example.org/x'/>
      server: <iq type='result' id='unknown'/>
      server: <r xmlns='\(Self.sm)'/>
      the bot says nothing
      """)
    conversation.store()
    try conversation.play(
      """
      bot: <a xmlns='\(Self.sm)' h='2'/>
      server: <r xmlns='\(Self.sm)'/>
      bot: <a xmlns='\(Self.sm)' h='2'/>
      """)
  }

  @Test("with what is sent goes the question whether the server has it; one question at a time")
  @LoopActor func question() throws {
    let conversation = try Conversation.managed()
    conversation.session.send(try message("m1").element, token: "m1")
    try conversation.play(
      """
      bot: <message type='chat' to='alice@example.org' id='m1'><body>text</body></message>
      bot: <r xmlns='\(Self.sm)'/>
      """)
    conversation.session.send(try message("m2").element, token: "m2")
    try conversation.play(
      """
      bot: <message type='chat' to='alice@example.org' id='m2'><body>text</body></message>
      the bot says nothing
      server: <a xmlns='\(Self.sm)' h='5'/>
      event: acknowledged m1
      bot: <r xmlns='\(Self.sm)'/>
      server: <a xmlns='\(Self.sm)' h='6'/>
      event: acknowledged m2
      the bot says nothing
      """)
  }

  @Test("a word of confirmation may stand behind other stanzas on a narrow line; it is not waited for for ever")
  @LoopActor func slowConfirmation() throws {
    let conversation = try Conversation.managed()
    conversation.session.send(try message("m1").element, token: "m1")
    conversation.skip()
    for _ in 1...47 { try conversation.play("after 50s\nserver: \(Self.hello)") }
    #expect(conversation.session.isOnline)
    for _ in 1...3 where conversation.session.isOnline { try conversation.play("after 50s\nserver: \(Self.hello)") }
    #expect(!conversation.session.isOnline)
  }

  @Test("a server that says nothing but does not confirm is left after interval and time-out")
  @LoopActor func noConfirmation() throws {
    let conversation = try Conversation.managed()
    try conversation.play("after 50s\nserver: \(Self.hello)")
    conversation.session.send(try message("m1").element, token: "m1")
    try conversation.play("after 79s")
    #expect(conversation.session.isOnline)
    try conversation.play("after 2s")
    #expect(!conversation.session.isOnline)
  }

  @Test("a lost stream is resumed: what the server has not is sent again with its first time, and nothing else is said")
  @LoopActor func resumes() throws {
    let conversation = try Conversation.managed()
    conversation.session.send(try message("m1").element, token: "m1")
    conversation.session.send(try message("m2").element, token: "m2")
    conversation.skip()
    try conversation.play("server: \(Self.hello)\nthe connection is lost")
    try conversation.play(resuming(h: 1))
    try conversation.play(
      """
      server: <resumed xmlns='\(Self.sm)' h='5' previd='sm1'/>
      event: acknowledged m1
      event: resumed as bot@example.org/r
      bot: <message type='chat' to='alice@example.org' id='m2'><body>text</body>
       <delay xmlns='urn:xmpp:delay' from='bot@example.org' stamp='2001-09-09T01:46:40.000000Z'/></message>
      bot: <r xmlns='\(Self.sm)'/>
      the bot says nothing
      server: <a xmlns='\(Self.sm)' h='6'/>
      event: acknowledged m2
      """)
  }

  @Test("what was received and not yet stored when the stream broke comes again, and is not taken twice")
  @LoopActor func resentToUs() throws {
    let conversation = try Conversation.managed()
    conversation.isDiskSlow = true
    try conversation.play("server: \(Self.hello)\nevent: message from alice\nthe connection is lost")
    try conversation.play(resuming(h: 0))
    try conversation.play(
      """
      server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>
      event: resumed
      server: \(Self.hello)
      server: <r xmlns='\(Self.sm)'/>
      the bot says nothing
      """)
    #expect(!conversation.events.contains { $0.hasPrefix("message") })
    conversation.store()
    try conversation.play("bot: <a xmlns='\(Self.sm)' h='1'/>")
  }

  @Test("an answer that the old stream owed may come on the new one")
  @LoopActor func requestsLiveOn() throws {
    let conversation = try Conversation.managed()
    let outcomes = Box<[Bool]>([])
    conversation.session.request(.get, to: try JID("example.org"), PubSub.newestItem(of: "a")) { result in
      if case .success = result { outcomes.value.append(true) } else { outcomes.value.append(false) }
    }
    try conversation.play(
      """
      bot: <iq type='get' id='$ask' to='example.org'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='a' max_items='1'/></pubsub></iq>
      bot: <r xmlns='\(Self.sm)'/>
      """)
    // Names are forgotten with a new stream, so the answer is for whatever is asked again.
    try conversation.play("the connection is lost")
    #expect(outcomes.value.isEmpty)
    try conversation.play(resuming(h: 0))
    try conversation.play(
      """
      server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>
      bot: <iq type='get' id='$again' to='example.org'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='a' max_items='1'/></pubsub></iq>
      server: <iq type='result' id='$again' from='example.org' to='bot@example.org/r'/>
      """)
    #expect(outcomes.value == [true])
  }

  @Test(
    "when the session is gone, what the server says it had is acknowledged, and nothing is sent before the next is managed"
  )
  @LoopActor func gone() throws {
    let conversation = try Conversation.managed()
    conversation.session.send(try message("m1").element, token: "m1")
    conversation.session.send(try message("m2").element, token: "m2")
    conversation.skip()
    try conversation.play("the connection is lost")
    try conversation.play(resuming(h: 0))
    try conversation.play(
      """
      server: <failed xmlns='\(Self.sm)' h='5'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>
      event: acknowledged m1
      bot: <iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r</resource></bind></iq>
      """)
    #expect(!conversation.session.send(Presence(.available).element))
    try conversation.play(Greeting.boundAndEnabled)
  }

  @Test("another process takes the stream up, and says anew who it is")
  @LoopActor func adopted() throws {
    let first = try Conversation.managed()
    try first.play("server: \(Self.hello)\nserver: <r xmlns='\(Self.sm)'/>\nbot: <a xmlns='\(Self.sm)' h='1'/>")
    let left = try #require(first.suspended)
    #expect(left.id == "sm1" && left.jid.description == "bot@example.org/r")
    var stored = left
    stored.handled = 1
    let second = Conversation(try Conversation.options(), suspended: stored)
    try second.play(resuming(h: 1))
    try second.play(
      "server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>\nevent: adopted as bot@example.org/r\n"
        + Greeting.isOnline
          + """

          bot: <r xmlns='\(Self.sm)'/>
          server: <a xmlns='\(Self.sm)' h='8'/>
          server: \(Self.hello)
          server: <r xmlns='\(Self.sm)'/>
          bot: <a xmlns='\(Self.sm)' h='2'/>
          """)
  }

  @Test("what the earlier process is known to have sent is acknowledged when the server has at least so many")
  @LoopActor func adoptedSent() throws {
    for (h, isKnown) in [(9, true), (7, true), (6, false)] {
      let left = SuspendedStream(
        id: "sm1", jid: try JID("bot@example.org/r"), location: nil, handled: 0, trustsAccountIDs: true,
        sent: .init(count: 7, last: "m7"))
      let conversation = Conversation(try Conversation.options(), suspended: left)
      try conversation.play(String(resuming(h: 0).dropFirst("after 0s\n".count)))
      try conversation.play("server: <resumed xmlns='\(Self.sm)' h='\(h)' previd='sm1'/>")
      #expect(conversation.events.contains("acknowledged up to m7") == isKnown)
    }
  }

  @Test("a server that says, when it resumes, that it has more than was sent is left, and the session with it")
  @LoopActor func resumedTooHigh() throws {
    let conversation = try Conversation.managed()
    conversation.session.send(try message("m1").element, token: "m1")
    conversation.skip()
    try conversation.play("the connection is lost")
    try conversation.play(resuming(h: 0))
    try conversation.play(
      """
      server: <resumed xmlns='\(Self.sm)' h='9' previd='sm1'/>
      bot: <stream:error><undefined-condition xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>
       <text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>the server acknowledged 9 stanzas, but 5 were sent</text></stream:error>
      bot: </stream:stream>
      the bot closes the connection
      """)
    #expect(!conversation.session.isOnline)
    try conversation.play("after 60s\n" + Greeting.managed)
  }

  @Test("a server that never gives a good answer when the session is asked for gets a new one, the third time")
  @LoopActor func badAnswers() throws {
    let conversation = try Conversation.managed()
    try conversation.play("the connection is lost")
    for wait in [0, 60] {
      try conversation.play("after \(wait)s\n" + String(resuming(h: 0).dropFirst("after 0s\n".count)))
      try conversation.play(
        """
        server: <resumed xmlns='\(Self.sm)' h='4' previd='another'/>
        bot: <stream:error><unsupported-stanza-type xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
        bot: </stream:stream>
        the bot closes the connection
        """)
    }
    #expect(conversation.suspended == nil)
    try conversation.play("after 60s\n" + Greeting.managed)
  }

  @Test("where the server would like the session resumed is tried once, whatever comes of it")
  @LoopActor func location() throws {
    let left = SuspendedStream(
      id: "sm1", jid: try JID("bot@example.org/r"), location: "other.example.org:5223", handled: 0,
      trustsAccountIDs: true)
    let conversation = Conversation(try Conversation.options(), suspended: left)
    #expect(conversation.dialer.requests.last?.host == "other.example.org")
    try conversation.play("the bot cannot connect: no route\nafter 60s")
    #expect(conversation.dialer.requests.last?.host == nil)
  }

  @Test("what breaks the stream at another place each time is not passed over")
  @LoopActor func brokenElsewhere() throws {
    let conversation = try Conversation.managed()
    let broken = """
      server: <message><body>&undefined;</body></message>
      bot: <stream:error><restricted-xml xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
      bot: </stream:stream>
      """
    for h in 0...3 {
      if h > 0 {
        try conversation.play(resuming(h: h - 1))
        try conversation.play("server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>\nevent: resumed")
        try conversation.play("server: \(Self.hello)")
      }
      try conversation.play(broken)
    }
    #expect(!conversation.events.contains { $0.hasPrefix("skipped") })
  }

  @Test("what was asked of the server before the stream went away for long is asked again when it is resumed")
  @LoopActor func discoveryAgain() throws {
    let conversation = try Conversation.managed()
    try conversation.play("the connection is lost\nafter 0s\nthe bot cannot connect: no route")
    try conversation.play("after 31s")
    try conversation.play(String(resuming(h: 0).dropFirst("after 0s\n".count)))
    try conversation.play(
      """
      server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>
      event: resumed as bot@example.org/r
      bot: <iq type='get' id='$own2' to='bot@example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      """)
  }

  @Test("a swamped server that does not say what it can do is asked again; it is not taken for one that can nothing")
  @LoopActor func discoveryUnanswered() throws {
    try Conversation.online().play(
      """
      after 31s
      bot: <iq type='get' id='$own2' to='bot@example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      bot: <iq type='get' id='$domain2' to='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      """)
  }

  @Test("a session that is suspended leaves without goodbye; one that is stopped can't be resumed")
  @LoopActor func suspends() throws {
    let left = try Conversation.managed()
    left.session.suspend()
    try left.play(
      "bot: <a xmlns='\(Self.sm)' h='0'/>\nthe bot says nothing\nthe bot closes the connection\nevent: stopped")
    #expect(left.suspended?.id == "sm1")
    let stopped = try Conversation.managed()
    stopped.session.stop()
    try stopped.play(
      """
      bot: <presence type='unavailable'/>
      bot: <a xmlns='\(Self.sm)' h='0'/>
      bot: <r xmlns='\(Self.sm)'/>
      bot: </stream:stream>
      server: </stream:stream>
      event: stopped
      """)
    #expect(stopped.suspended == nil)
  }

  /// Two streams have died before the server had the messages `evil` and `good`; the bot has just resumed the second.
  @LoopActor private func suspicious() throws -> Conversation {
    let conversation = try Conversation.managed()
    conversation.session.send(try message("evil").element, token: "evil")
    conversation.session.send(try message("good").element, token: "good")
    for _ in 1...2 {
      conversation.skip()
      try conversation.play("the connection is lost")
      try conversation.play(resuming(h: 0))
      try conversation.play("server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>\nevent: resumed")
    }
    return conversation
  }

  private static func resent(_ id: String) -> String {
    """
    bot: <message type='chat' to='alice@example.org' id='\(id)'><body>text</body>
     <delay xmlns='urn:xmpp:delay' from='bot@example.org' stamp='2001-09-09T01:46:40.000000Z'/></message>
    """
  }

  @Test("a stanza over which the stream dies three times, at last alone, is not sent again, and is told of")
  @LoopActor func poison() throws {
    let conversation = try suspicious()
    try conversation.play(
      """
      bot: <r xmlns='\(Self.sm)'/>
      server: <a xmlns='\(Self.sm)' h='4'/>
      \(Self.resent("evil"))
      bot: <r xmlns='\(Self.sm)'/>
      the connection is lost
      """)
    try conversation.play(resuming(h: 0))
    try conversation.play(
      """
      server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>
      event: set aside evil
      event: failed evil
      \(Self.resent("good"))
      bot: <r xmlns='\(Self.sm)'/>
      server: <a xmlns='\(Self.sm)' h='5'/>
      event: acknowledged good
      """)
  }

  @Test("a line that is cut again and again before the server has read a word condemns no message")
  @LoopActor func innocent() throws {
    let conversation = try suspicious()
    for _ in 1...2 {
      try conversation.play("bot: <r xmlns='\(Self.sm)'/>\nthe bot says nothing\nthe connection is lost")
      // The pause before the next attempt grows.
      try conversation.play("after 10s\n" + resuming(h: 0))
      try conversation.play("server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>\nevent: resumed")
    }
    // What is said meanwhile goes behind.
    conversation.session.send(try message("late").element, token: "late")
    try conversation.play(
      """
      bot: <r xmlns='\(Self.sm)'/>
      server: <a xmlns='\(Self.sm)' h='4'/>
      \(Self.resent("evil"))
      bot: <r xmlns='\(Self.sm)'/>
      server: <a xmlns='\(Self.sm)' h='5'/>
      event: acknowledged evil
      \(Self.resent("good"))
      \(Self.resent("late"))
      bot: <r xmlns='\(Self.sm)'/>
      """)
  }

  @Test("what the server sends and nobody can read is passed over after three streams")
  @LoopActor func unreadable() throws {
    let conversation = try Conversation.managed()
    for attempt in 1...3 {
      try conversation.play(
        """
        server: <message><body>&undefined;</body></message>
        bot: <stream:error><restricted-xml xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>
        bot: </stream:stream>
        """)
      if attempt == 3 { try conversation.play("event: skipped: ") }
      try conversation.play(resuming(h: attempt == 3 ? 1 : 0))
      try conversation.play("server: <resumed xmlns='\(Self.sm)' h='4' previd='sm1'/>\nevent: resumed")
    }
    try conversation.play("server: \(Self.hello)\nserver: <r xmlns='\(Self.sm)'/>\nbot: <a xmlns='\(Self.sm)' h='2'/>")
  }

  @Test("a server that acknowledges what was never sent is left")
  @LoopActor func tooHigh() throws {
    try Conversation.managed().play(
      """
      server: <a xmlns='\(Self.sm)' h='5'/>
      bot: <stream:error><undefined-condition xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>
       <text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>the server acknowledged 5 stanzas, but 4 were sent</text></stream:error>
      bot: </stream:stream>
      """)
  }

  @Test("a server that does not enable it is used without; the answer to a ping confirms what was sent before")
  @LoopActor func refused() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toLogin + "\n" + Greeting.managedFeatures)
    conversation.skip()
    try conversation.play(
      """
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      bot: <enable xmlns='\(Self.sm)' resume='true'/>
      server: <failed xmlns='\(Self.sm)'><internal-server-error xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>
      event: online as bot@example.org/r
      """)
    conversation.skip()
    conversation.session.send(try message("m1").element, token: "m1")
    try conversation.play(
      """
      bot: <message type='chat' to='alice@example.org' id='m1'><body>text</body></message>
      bot: <iq type='get' id='$ping' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>
      """)
    conversation.session.send(try message("m2").element, token: "m2")
    try conversation.play(
      """
      bot: <message type='chat' to='alice@example.org' id='m2'><body>text</body></message>
      server: <iq type='result' id='$ping' from='example.org' to='bot@example.org/r'/>
      event: acknowledged m1
      bot: <iq type='get' id='$again' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>
      server: <iq type='error' id='$again' from='example.org' to='bot@example.org/r'>
       <error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      event: acknowledged m2
      """)
  }

  @Test("a message that comes between binding and the answer to <enable/> does not count")
  @LoopActor func early() throws {
    let conversation = Conversation(try Conversation.options())
    try conversation.play(Greeting.toLogin + "\n" + Greeting.managedFeatures)
    conversation.skip()
    try conversation.play(
      """
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      server: \(Self.hello)
      server: <enabled xmlns='\(Self.sm)' id='sm1' resume='true'/>
      event: online as bot@example.org/r
      event: message from alice@example.org/x: hello
      """)
    conversation.skip()
    try conversation.play("server: <r xmlns='\(Self.sm)'/>\nbot: <a xmlns='\(Self.sm)' h='0'/>")
  }
}
