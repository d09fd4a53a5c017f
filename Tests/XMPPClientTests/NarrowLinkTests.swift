import EventLoop
import JID
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("A narrow link")
struct NarrowLinkTests {
  init() { LoopThread.start() }

  @Test(
    "on a narrow link the server is told what we have before the messages of ours that wait to go out, in whole stanzas, and these keep their order"
  )
  @LoopActor func toldFirst() throws {
    let conversation = try Conversation.managed()
    let stream = try #require(conversation.dialer.stream)
    stream.unsentBytes = 100_000
    let messages = try (1...100).map { Message(.chat, to: try JID("alice@example.org"), id: "\($0)", body: "text") }
    conversation.session.turn {
      for message in messages { conversation.session.send(message.element, token: message.id) }
    }
    #expect(conversation.session.unsentBytes > 105_000)
    try conversation.play(
      """
      server: <message from='alice@example.org/x' type='chat'><body>hello</body></message>
      server: <r xmlns='urn:xmpp:sm:3'/>
      the bot says nothing
      """)
    stream.unsentBytes = 0
    stream.onDrained()
    try conversation.play("bot: <a xmlns='urn:xmpp:sm:3' h='1'/>")
    for number in 1...100 {
      try conversation.play(
        "bot: <message to='alice@example.org' type='chat' id='\(number)'><body>text</body></message>")
    }
    try conversation.play("bot: <r xmlns='urn:xmpp:sm:3'/>")
    #expect(conversation.session.unsentBytes == 0)
  }
}
