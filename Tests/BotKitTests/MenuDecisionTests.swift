import JID
import Testing

@testable import BotKit

@Suite("What a form of a menu gets")
struct MenuDecisionTests {
  /// Somebody is asked by `deploy`, in a chat or a menu.
  private func ask(_ conversation: inout Conversation, _ options: [String], asked: String) throws {
    let message = ChatMessage(sender: try JID("bob@example.org"), body: "deploy")
    conversation.router.offered(options, asked: asked, by: "deploy", to: message, now: conversation.now)
  }

  private func fill(
    _ conversation: inout Conversation, _ form: FilledForm, by sender: String = "bob@example.org"
  ) throws -> String {
    let message = ChatMessage(sender: try JID(sender), body: form.text)
    return Conversation.text(conversation.router.decide(form, as: message, now: conversation.now))
  }

  private func choice(_ text: String, number: Int = 1, asked: String = "1") -> FilledForm {
    FilledForm("deploy", text, choice: .init(number: number, text: text, asked: asked))
  }

  private static let closed = "That question is no longer open. Use deploy again to be asked anew."

  @Test("the command that it is of, though a question is open that has its text among its options")
  func command() throws {
    var conversation = try Conversation()
    try ask(&conversation, ["ping", "Blog"], asked: "1")
    #expect(try fill(&conversation, FilledForm("ping", "ping")) == "pong")
    #expect(try fill(&conversation, FilledForm("deploy", "deploy 'a b' c")) == "(runs deploy: a b|c)")
    let later = try conversation.say("bob@example.org", "Blog")
    #expect(later == "(runs deploy: Blog)", "the question is still open")
  }

  @Test("a choice answers the question that was asked, whatever command bears its name")
  func chosen() throws {
    var conversation = try Conversation()
    try ask(&conversation, ["ping", "Blog"], asked: "1")
    #expect(try fill(&conversation, choice("ping")) == "(runs deploy: ping)")
    #expect(try fill(&conversation, choice("ping")) == Self.closed, "once")
  }

  @Test("a choice never answers another question that has it, too, and runs no command")
  func other() throws {
    var conversation = try Conversation()
    try ask(&conversation, ["ping", "Blog"], asked: "1")
    try ask(&conversation, ["Shop", "ping"], asked: "2")
    #expect(try fill(&conversation, choice("ping")) == Self.closed)
    #expect(try fill(&conversation, choice("ping", number: 1, asked: "2")) == Self.closed, "in another place")
    let other = FilledForm("friends", "ping", choice: .init(number: 2, text: "ping", asked: "2"))
    #expect(try fill(&conversation, other).contains("no longer open"), "of another command")
    #expect(try fill(&conversation, choice("ping", number: 2, asked: "2")) == "(runs deploy: ping)")
  }

  @Test("a choice comes too late when it was made in a chat before, or ten minutes have gone")
  func late() throws {
    var conversation = try Conversation()
    try ask(&conversation, ["Shop"], asked: "1")
    #expect(try conversation.say("bob@example.org", "1") == "(runs deploy: Shop)")
    #expect(try fill(&conversation, choice("Shop")) == Self.closed)
    try ask(&conversation, ["Shop"], asked: "1")
    conversation.now += .seconds(600)
    #expect(try fill(&conversation, choice("Shop")) == Self.closed)
  }

  @Test("a choice gives no right to use the command")
  func rights() throws {
    var conversation = try Conversation()
    let message = ChatMessage(sender: try JID("eve@example.net"), body: "deploy")
    conversation.router.offered(["Shop"], asked: "1", by: "deploy", to: message, now: conversation.now)
    #expect(try fill(&conversation, choice("Shop"), by: "eve@example.net").contains("not allowed"))
  }

  @Test("what a form says is no echo, though the bot said the same")
  func echo() throws {
    var conversation = try Conversation()
    try ask(&conversation, ["pong"], asked: "1")
    #expect(try conversation.say("bob@example.org", "ping") == "pong")
    #expect(try fill(&conversation, choice("pong")) == "(runs deploy: pong)")
  }

  @Test("pages count like messages, and messages like pages")
  func rate() throws {
    var conversation = try Conversation(rate: RateLimit(count: 3, per: .seconds(10)))
    let bob = ChatMessage(sender: try JID("bob@example.org"), body: "")
    let carol = ChatMessage(sender: try JID("carol@example.org"), body: "")
    func page(_ message: ChatMessage) -> Bool { conversation.router.admitsPage(for: message, now: conversation.now) }
    #expect(page(bob))
    #expect(try fill(&conversation, FilledForm("ping", "ping")) == "pong")
    #expect(page(bob) && !page(bob) && page(carol))
    #expect(try conversation.say("bob@example.org", "ping") == "(ignored: over the rate limit)")
    conversation.now += .seconds(10)
    #expect(page(bob))
  }
}

@Suite("A command that was cut short")
struct AgainTests {
  /// What becomes of `body`, for which `deploy` ran in an earlier process.
  private func again(_ body: String, places: Places = .chat) throws -> String? {
    var conversation = try Conversation()
    let description = CommandDescription(name: "restart", allow: [.everyone], places: places, reruns: true)
    if let fault = conversation.router.commands.add(Command(description, Nothing(), origin: "test")) { throw fault }
    let message = ChatMessage(sender: try JID("bob@example.org"), body: body)
    return conversation.router.again(message, command: "restart").map { Conversation.text(.run($0)) }
  }

  @Test("runs again with its arguments")
  func arguments() throws {
    #expect(try again("Restart web db") == "(runs restart: web|db)")
  }

  @Test("does not run again when it was chosen: the words are not its arguments, and what was asked is forgotten")
  func chosen() throws {
    #expect(try again("1") == nil)
    #expect(try again("Green tea") == nil)
  }

  @Test("does not run again where it may not be used any more")
  func places() throws {
    #expect(try again("restart", places: .room) == nil)
  }
}
