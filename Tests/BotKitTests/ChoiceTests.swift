import EventLoop
import JID
import Testing

@testable import BotKit

@Suite("A question with choices")
struct ChoiceTests {
  private func asked() throws -> Conversation {
    var conversation = try Conversation()
    let message = ChatMessage(sender: try JID("bob@example.org"), body: "deploy")
    conversation.router.offered(
      ["The Shop", "Blog"], asked: "1", by: "deploy", to: message, now: conversation.now)
    return conversation
  }

  @Test("is answered by number or by text, in any case", arguments: ["1", "the shop", " The  SHOP "])
  func answered(_ answer: String) throws {
    var conversation = try asked()
    #expect(try conversation.say("bob@example.org", answer) == "(runs deploy: The Shop)")
    #expect(try conversation.say("bob@example.org", answer).contains("I don't know"), "once")
  }

  @Test("is left open by what is no answer", arguments: ["0", "3", "shop", "ping", "1 2"])
  func leftOpen(_ text: String) throws {
    var conversation = try asked()
    #expect(try !conversation.say("bob@example.org", text).hasPrefix("(runs"))
    #expect(try conversation.say("bob@example.org", "2") == "(runs deploy: Blog)")
  }

  @Test("is not answered by another, nor in another place, nor after ten minutes")
  func elsewhere() throws {
    var conversation = try asked()
    #expect(try conversation.say("carol@example.org", "1").contains("I don't know"))
    #expect(
      try conversation.say("bob@example.org", "!1", room: "ops@rooms.example.org")
        == "(ignored: no command of this bot)")
    conversation.now += .seconds(600)
    #expect(try conversation.say("bob@example.org", "1").contains("I don't know"))
  }

  @Test("gives way to a later one")
  func later() throws {
    var conversation = try asked()
    let message = ChatMessage(sender: try JID("bob@example.org"), body: "deploy")
    conversation.router.offered(["1. May"], asked: "2", by: "deploy", to: message, now: conversation.now)
    #expect(try conversation.say("bob@example.org", "Blog").contains("I don't know"))
    #expect(try conversation.say("bob@example.org", "1") == "(runs deploy: 1. May)")
  }

  @Test("gives no right to use the command")
  func rights() throws {
    var conversation = try Conversation()
    let message = ChatMessage(sender: try JID("eve@example.net"), body: "deploy")
    conversation.router.offered(["Shop"], asked: "1", by: "deploy", to: message, now: conversation.now)
    #expect(try conversation.say("eve@example.net", "1").contains("not allowed"))
  }

  @Test("what is no command is heard by who listens to its sender, and not answered as unknown")
  func heard() throws {
    var conversation = try Conversation()
    conversation.router.listeners = [Listener(allow: [.domain("example.org")])]
    #expect(try conversation.say("bob@example.org", "good morning") == "(heard)")
    #expect(try conversation.say("bob@example.org", "ping") == "pong")
    #expect(try conversation.say("bob@example.net", "good morning").contains("I don't know"))
    #expect(try conversation.say("bob@example.org", "late", age: .seconds(301)).hasPrefix("(ignored"))
  }
}
