import EventLoop
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("Ending a stream")
struct FarewellTests {
  init() { LoopThread.start() }

  private let farewell = """
    bot: <presence type='unavailable'/>
    bot: </stream:stream>
    """

  @Test("the last words are unavailable presence and the end of the stream; what was under way is still taken")
  @LoopActor func peaceful() throws {
    let conversation = try Conversation.online()
    conversation.session.stop()
    try conversation.play(farewell)
    try conversation.play(
      """
      server: <message from='alice@example.org/x' type='chat'><body>last</body></message>
      event: message from alice@example.org/x: last
      """)
    #expect(!conversation.session.isOnline)
    #expect(!conversation.session.send(Presence(.available).element))
    try conversation.play(
      """
      server: </stream:stream>
      the bot says nothing
      the bot closes the connection
      event: stopped
      after 3600s
      """)
    #expect(conversation.dialer.requests.count == 1)
  }

  @Test("a server that does not say goodbye is left after two seconds")
  @LoopActor func cold() throws {
    let conversation = try Conversation.online()
    conversation.session.stop()
    try conversation.play(farewell)
    try conversation.play("after 1.9s")
    #expect(conversation.dialer.stream?.isClosed == false)
    try conversation.play("after 0.1s\nthe bot closes the connection\nevent: stopped")
  }

  @Test("a connection that ends in the middle of a goodbye was stopped, not lost")
  @LoopActor func cut() throws {
    let conversation = try Conversation.online()
    conversation.session.stop()
    try conversation.play("the connection is lost\nevent: stopped\nafter 3600s")
    #expect(conversation.dialer.requests.count == 1)
  }

  @Test("a reconnect dials once the old stream has ended in peace; a session that was stopped stays so")
  @LoopActor func reconnects() throws {
    let conversation = try Conversation.online()
    conversation.session.reconnect()
    try conversation.play(farewell)
    try conversation.play("server: </stream:stream>\nthe bot closes the connection")
    try conversation.play(Greeting.online)
    conversation.session.stop()
    conversation.session.reconnect()
    try conversation.play("server: </stream:stream>\nevent: stopped")
    conversation.session.reconnect()
    #expect(conversation.dialer.requests.count == 2)
  }

  @Test("a stop while the bot waits or connects takes effect at once")
  @LoopActor func offline() throws {
    let waiting = Conversation(try Conversation.options())
    try waiting.play("the bot cannot connect: no route")
    waiting.session.stop()
    try waiting.play("event: stopped\nafter 3600s")
    #expect(waiting.dialer.requests.count == 1)
    let connecting = Conversation(try Conversation.options())
    try connecting.play("the bot connects\nbot: <stream:stream>")
    connecting.session.stop()
    try connecting.play("bot: </stream:stream>\nthe bot closes the connection\nevent: stopped")
  }

  @Test("what is asked for when the stream has ended fails at once, also from within what fails with it")
  @LoopActor func requestsAfterwards() throws {
    let conversation = try Conversation.online()
    let outcomes = Box<[String]>([])
    conversation.session.request(.get, PubSub.newestItem(of: "a")) { _ in
      conversation.session.request(.get, PubSub.newestItem(of: "b")) { result in
        if case .failure(let error) = result { outcomes.value.append(error.condition.rawValue) }
      }
    }
    try conversation.play("the connection is lost")
    #expect(outcomes.value == ["recipient-unavailable"])
  }
}
