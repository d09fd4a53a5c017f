import EventLoop
import JID
import Testing
import XMPPClient
import XMPPStanzas
import XMPPStream
import XMPPTesting

/// A server that lets the bot take its session up, and then does not hear what it says there (XEP-0198).
@Suite("A session on which the server is deaf")
struct DeafnessTests {
  init() { LoopThread.start() }

  private static let hello = "server: <message from='alice@example.org/x' type='chat'><body>hello</body></message>"
  private static let confirmation = "server: <a xmlns='urn:xmpp:sm:3' h='5'/>"

  /// The session was taken up, a message of ours was said again, and the server was asked whether it has it.
  @LoopActor private static func resumed() throws -> Conversation {
    let conversation = try Conversation.managed()
    let message = Message(.chat, to: try JID("alice@example.org"), id: "m1", body: "text")
    conversation.session.send(message.element, token: "m1")
    conversation.skip()
    try conversation.play("the connection is lost")
    try takeUp(conversation, h: 0)
    try conversation.play(
      "server: <resumed xmlns='urn:xmpp:sm:3' h='4' previd='sm1'/>\nevent: resumed as bot@example.org/r")
    conversation.skip()
    return conversation
  }

  /// The bot connects, and asks for the session.
  @LoopActor private static func takeUp(_ conversation: Conversation, h: Int) throws {
    try conversation.play(
      "after 0s\n" + Greeting.toLogin + "\n" + Greeting.managedFeatures
        + "\nbot: <resume xmlns='urn:xmpp:sm:3' h='\(h)' previd='sm1'/>")
  }

  @LoopActor private static func awaitSilence(_ conversation: Conversation) throws {
    try conversation.play("after 60s")
    try conversation.play("after 30s")
    conversation.skip()
    #expect(!conversation.session.isOnline)
  }

  @Test("what comes from it without an answer, until nothing comes, shows it: the next session is a new one")
  @LoopActor func silence() throws {
    let conversation = try Self.resumed()
    try conversation.play(Self.hello)
    try Self.awaitSilence(conversation)
    #expect(conversation.suspended == nil)
    try conversation.play("after 0s\n" + Greeting.managed)
  }

  @Test("while more and more comes from it, it is waited for as long as for any answer")
  @LoopActor func flood() throws {
    let conversation = try Self.resumed()
    for _ in 1...10 where conversation.session.isOnline { try conversation.play("after 20s\n" + Self.hello) }
    conversation.skip()
    #expect(conversation.suspended == nil)
    #expect(!conversation.session.isOnline)
  }

  @Test(
    "a line that is cut before anything came, or after an answer, is no such server: its session is asked for again")
  @LoopActor func cut() throws {
    let quiet = try Self.resumed()
    try Self.awaitSilence(quiet)
    try Self.takeUp(quiet, h: 0)
    let confirmed = try Self.resumed()
    try confirmed.play(Self.hello + "\n" + Self.confirmation + "\n" + Self.hello)
    confirmed.skip()
    try Self.awaitSilence(confirmed)
    try Self.takeUp(confirmed, h: 2)
  }
}
