import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Testing
import XMPPStanzas
import XMPPStream
import XMPPTesting

@testable import Daemon

@Suite("Receipts, markers, typing and replies")
struct CourtesyTests {
  init() { LoopThread.start() }

  private static let asks = "<request xmlns='urn:xmpp:receipts'/>"
  private static let markable = "<markable xmlns='urn:xmpp:chat-markers:0'/>"

  private static func receipt(_ id: String, to: String = "alice@example.net/phone", type: String = "chat") -> String {
    "bot: <message type='\(type)' to='\(to)' id='$any'><received xmlns='urn:xmpp:receipts' id='\(id)'/></message>"
  }

  private static func marker(_ id: String) -> String {
    """
    bot: <message type='chat' to='alice@example.net/phone' id='$any'>
     <displayed xmlns='urn:xmpp:chat-markers:0' id='\(id)'/></message>
    """
  }

  private static func state(_ state: String, thread: String? = nil) -> String {
    let thread = thread.map { "<thread>\($0)</thread>" } ?? ""
    return """
      bot: <message type='chat' to='alice@example.net/phone' id='$any'>\(thread)
       <\(state) xmlns='http://jabber.org/protocol/chatstates'/></message>
      """
  }

  @Test("a contact's message that asks gets its receipt once it is committed, and not before")
  @LoopActor func receipt() async throws {
    let bench = try await FlowBench.online()
    try bench.befriend("alice@example.net")
    let disk = bench.holdDisk()
    try bench.play(
      "server: <message from='alice@example.net/phone' type='chat' id='m1'><body>hello, all</body>\(Self.asks)</message>"
    )
    try bench.expectSilence()
    disk.open()
    await bench.settle()
    try bench.play(Self.receipt("m1"))
    #expect(try await bench.rows().first?.body == "hello, all")
  }

  @Test("a message that comes again, since its sender heard nothing, gets its receipt again, and no other answer")
  @LoopActor func receiptAgain() async throws {
    let bench = try await FlowBench.online()
    try bench.befriend("alice@example.net")
    for number in 1...2 {
      try await bench.receive("ping", id: "m1", more: Self.asks)
      try bench.play(Self.receipt("m1"))
      if number == 1 { try bench.expectAnswer("pong") }
    }
    try bench.expectSilence()
  }

  @Test(
    "no receipt and no marker for who may not see that the bot is there, for what has no id, or is no chat",
    arguments: [
      ("mallory@example.net/x", "id='m1' type='chat'", ""), ("alice@example.net/phone", "type='chat'", ""),
      ("alice@example.net/phone", "id='m1' type='headline'", ""),
      ("bot@example.org/other", "id='m1' type='chat'", ""),
    ])
  @LoopActor func noReceipt(from: String, attributes: String, more: String) async throws {
    let bench = try await FlowBench.online()
    try bench.befriend("alice@example.net")
    try bench.play(
      "server: <message from='\(from)' \(attributes)><body>note</body>\(Self.asks)\(Self.markable)\(more)</message>")
    await bench.settle()
    let said = bench.written()
    #expect(!said.contains("<received") && !said.contains("<displayed"))
    #expect(try await bench.rows().first?.body == "note")
  }

  @Test("a contact to whom the bot is subscribed, but who is not to see it, gets no receipt")
  @LoopActor func subscribedTo() async throws {
    let bench = try await FlowBench.online()
    try bench.befriend("alice@example.net", subscription: "to")
    try await bench.receive("ping", id: "m1", more: Self.asks)
    try bench.expectAnswer("pong")
  }

  @Test("a carbon gets no receipt; of what comes out of the archive only what is not old")
  @LoopActor func notLive() async throws {
    let bench = try await FlowBench.online()
    try bench.befriend("alice@example.net")
    var message = try Message(
      #require(
        bench.element(
          "<message xmlns='jabber:client' from='alice@example.net/phone' to='bot@example.org' id='m1' type='chat'><body>hello, all</body>\(Self.asks)</message>"
        )))
    bench.flow.take(Arrival(message: message, way: .carbon(.received)))
    await bench.settle()
    try bench.expectSilence()
    for (id, age) in [("old", Int64(301)), ("new", 299)] {
      let stamp = bench.now - age * 1_000_000
      message.id = id
      message.delay = Delay(stamp: stamp)
      message.stanzaIDs = [StanzaID(id: "s" + id, by: "bot@example.org")]
      let result = try ArchivedMessage(
        archive: JID("bot@example.org"), id: "s" + id, queryID: "q", stamp: stamp, message: message,
        element: message.element, isOwn: false)
      bench.flow.take(Arrival(message: message, way: .archived(result)))
      await bench.settle()
    }
    let said = bench.written()
    #expect(said.contains("<received xmlns='urn:xmpp:receipts' id='new'/>") && !said.contains("id='old'"))
  }

  @Test("a command that is taken up is marked as displayed; what gets no answer is not")
  @LoopActor func displayed() async throws {
    let bench = try await FlowBench.online()
    try bench.befriend("alice@example.net")
    try await bench.receive("ping", id: "m1", more: Self.asks + Self.markable)
    try bench.play(Self.receipt("m1"))
    try bench.play(Self.marker("m1"))
    try bench.expectAnswer("pong")
    try await bench.receive("pong", id: "m2", more: Self.markable)
    try bench.expectSilence()
    try await bench.receive("ping", id: "m3")
    try bench.expectAnswer("pong")
  }

  @Test("while a command runs the bot types: shown again after each of its messages, in its thread, until the end")
  @LoopActor func typing() async throws {
    let slow = Slow(saying: "half-way")
    let bench = try await FlowBench.online([slow])
    try await bench.receive("slow", id: "m1", more: "<thread>t</thread>")
    try bench.play(Self.state("composing", thread: "t"))
    try await bench.receive("ping", id: "m2")
    try bench.expectAnswer("pong")
    try bench.expectSilence()
    bench.conversation.clock.advance(by: .seconds(2))
    try bench.play(Self.state("composing", thread: "t"))
    bench.conversation.clock.advance(by: .seconds(5))
    try bench.expectSilence()
    await slow.gate.open()
    await bench.finishCommands()
    try bench.skip(bodies: ["half-way", "at last"])
    bench.conversation.clock.advance(by: .seconds(5))
    try bench.expectSilence()
  }

  @Test("a command that ends without a word stops typing")
  @LoopActor func silentEnd() async throws {
    struct Mute: CommandHandler {
      let description = CommandDescription(name: "mute", allow: [.everyone])
      func run(_ request: CommandRequest, reply: Reply) async throws -> String? { nil }
    }
    let bench = try await FlowBench.online([Mute()])
    try await bench.receive("mute", id: "m1")
    await bench.finishCommands()
    try bench.play(Self.state("composing"))
    try bench.play(Self.state("paused"))
    try bench.expectSilence()
  }

  @Test(
    "an answer says what it answers when the contact has written something else since, by the origin-id if there is one"
  )
  @LoopActor func reply() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await bench.receive("slow", id: "m1", more: "<origin-id xmlns='urn:xmpp:sid:0' id='o1'/>")
    try bench.play(Self.state("composing"))
    try await bench.receive("ping", id: "m2")
    try bench.expectAnswer("pong")
    await slow.gate.open()
    await bench.finishCommands()
    try bench.expectAnswer(
      "at last", more: "<reply xmlns='urn:xmpp:reply:0' to='alice@example.net/phone' id='o1'/>", moreFollowsOrigin: true
    )
    #expect(try await bench.rows().compactMap(\.replyTo) == ["o1"])
  }

  @Test("an answer says nothing of the kind when nothing, or only somebody else's message, came between")
  @LoopActor func noReply() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await bench.receive("slow", id: "m1")
    try await bench.receive("ping", id: "b1", from: "bob@example.net/x")
    await slow.gate.open()
    await bench.finishCommands()
    #expect(try await bench.rows().filter { $0.direction == .out }.map(\.replyTo) == [nil, nil])
  }

  @Test("an encrypted message is archived and answered once, also when an earlier process did so")
  @LoopActor func encrypted() async throws {
    let notice = "I can't read encrypted messages. Turn encryption off for this chat, and send it again."
    let bench = try await FlowBench.online()
    let omemo =
      "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='1'/><payload>AAAA</payload></encrypted>"
      + "<encryption xmlns='urn:xmpp:eme:0' namespace='eu.siacs.conversations.axolotl'/>"
    for id in ["m1", "m2"] { try await bench.receive("I sent you an OMEMO message", id: id, more: omemo) }
    try bench.expectAnswer(notice)
    try await bench.receive("?OTRv23?", id: "m3", from: "bob@example.net/x")
    try bench.expectAnswer(notice, to: "bob@example.net/x")
    try bench.expectSilence()
    #expect(
      try await bench.transcript() == [
        "< I sent you an OMEMO message", "> \(notice) (sent)", "< I sent you an OMEMO message", "< ?OTRv23?",
        "> \(notice) (sent)",
      ])
  }

  @Test("who was told in an earlier process is not told again")
  @LoopActor func toldBefore() async throws {
    let bench = try await DaemonBench(before: { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      let row = NewMessage(.out, .chat, peer: "alice@example.net", time: 1, body: Router.encryptedText, state: .acked)
      try transaction.insert(row)
    })
    try bench.goOnline()
    await bench.settle()
    for sender in ["alice", "bob"] {
      try bench.play(
        "server: <message type='chat' from='\(sender)@example.net/x' id='m'><body>?OTR:AAMD</body></message>")
      await bench.settle()
    }
    #expect(
      try await bench.transcript().filter { $0.hasSuffix("(sent)") || $0.hasPrefix("<") } == [
        "< ?OTR:AAMD", "< ?OTR:AAMD", "> \(Router.encryptedText) (sent)",
      ])
  }

  @Test("a message that only sets up encryption is not answered")
  @LoopActor func keyExchange() async throws {
    let bench = try await FlowBench.online()
    try bench.play(
      """
      server: <message from='alice@example.net/phone' type='chat' id='m1'>
       <encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='1'/></encrypted></message>
      """)
    await bench.settle()
    try bench.expectSilence()
  }

  @Test("a corrected command is archived, and not run again")
  @LoopActor func corrected() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping one", id: "m1")
    try bench.expectAnswer("pong one")
    try await bench.receive("ping two", id: "m2", more: "<replace xmlns='urn:xmpp:message-correct:0' id='m1'/>")
    try bench.expectSilence()
    #expect(try await bench.rows().last?.replaces == "m1")
    try await bench.receive("pnig", id: "m3")
    try bench.expectAnswer("I don't know “pnig”. Did you mean ping? Send help for the list.")
    try await bench.receive("ping", id: "m4", more: "<replace xmlns='urn:xmpp:message-correct:0' id='m3'/>")
    try bench.expectAnswer("I don't run corrections: send the command as a new message.")
  }

  @Test(
    "who sends nothing that is a command is asked what it is; a bot gets no more answers to that",
    arguments: [
      ("<identity category='client' type='bot'/>", true), ("<feature var='urn:xmpp:noreply:0'/>", true),
      ("<identity category='client' type='phone'/>", false),
    ])
  @LoopActor func otherBot(info: String, isBot: Bool) async throws {
    let bench = try await FlowBench.online()
    for number in 1...2 { try await bench.receive("Sorry?", id: "m\(number)", from: "other@example.net/bot") }
    for _ in 1...2 {
      try bench.expectAnswer("I don't know “sorry?”. Send help for what I can do.", to: "other@example.net/bot")
    }
    try bench.play(
      """
      bot: <iq type='get' id='$q' to='other@example.net/bot'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      server: <iq type='result' id='$q' from='other@example.net/bot'>
       <query xmlns='http://jabber.org/protocol/disco#info'>\(info)</query></iq>
      """)
    try await bench.receive("Pardon?", id: "m3", from: "other@example.net/bot")
    #expect(bench.written().contains("pardon") == !isBot)
    try await bench.receive("ping", id: "m4", from: "other@example.net/bot")
    #expect(bench.written().contains("pong"), "commands are answered")
  }
}

@Suite("Who sees that the bot is typing")
struct TypingStateTests {
  private let alice: JID
  private let bob: JID

  init() throws {
    alice = try JID("alice@example.net/phone")
    bob = try JID("bob@example.net/x")
  }

  private func notice(_ state: ChatState, _ recipient: JID? = nil) -> TypingStates.Notice {
    TypingStates.Notice(recipient: recipient ?? alice, state: state, thread: nil)
  }

  @Test("two commands of one contact are typing once, until the last one ends; one that never began ends nothing")
  func two() {
    var typing = TypingStates()
    #expect(typing.began(1, of: alice, thread: nil) == notice(.composing))
    #expect(typing.began(2, of: alice, thread: nil) == nil)
    #expect(typing.began(3, of: bob, thread: nil) == notice(.composing, bob))
    #expect(typing.ended(4, of: alice, speaks: true) == nil)
    #expect(typing.ended(1, of: alice, speaks: false) == nil)
    #expect(typing.ended(1, of: alice, speaks: false) == nil)
    #expect(typing.ended(2, of: alice, speaks: false) == notice(.paused))
    #expect(typing.ended(2, of: alice, speaks: false) == nil)
    #expect(typing.ended(3, of: bob, speaks: true) == nil)
  }

  @Test("a message takes it away, so it is renewed, and not after the end")
  func renewal() {
    var typing = TypingStates()
    #expect(typing.said(to: alice) == false)
    _ = typing.began(1, of: alice, thread: nil)
    #expect(typing.said(to: alice) == true)
    #expect(typing.renewals() == [notice(.composing)])
    #expect(typing.renewals() == [])
    #expect(typing.said(to: alice) == true)
    #expect(typing.said(to: alice) == true)
    #expect(typing.ended(1, of: alice, speaks: false) == nil, "it was taken away by the message")
    #expect(typing.said(to: alice) == false)
    #expect(typing.renewals() == [])
  }
}

@Suite("Repetitions")
struct RepetitionTests {
  private func jid(_ text: String) throws -> JID { try JID(text) }

  @Test("the same id with the same text from the same client is a repetition, and only that")
  func same() throws {
    var repetitions = Repetitions()
    let phone = try jid("alice@example.net/phone")
    #expect(repetitions.isRepeated("1", "ping", from: phone, at: 0) == false)
    #expect(repetitions.isRepeated("1", "ping", from: phone, at: 0) == true)
    #expect(repetitions.isRepeated("1", "ping 2", from: phone, at: 0) == false)
    #expect(repetitions.isRepeated("2", "ping", from: phone, at: 0) == false)
    #expect(repetitions.isRepeated("1", "ping", from: try jid("alice@example.net/desk"), at: 0) == false)
    #expect(repetitions.isRepeated("1", "ping", from: try jid("bob@example.net/phone"), at: 0) == false)
  }

  @Test("a client may send again after hours, but what comes every day is meant")
  func daily() throws {
    var repetitions = Repetitions()
    let script = try jid("alice@example.net/cron")
    let hour: Int64 = 3_600_000_000
    #expect(repetitions.isRepeated("1", "status", from: script, at: 0) == false)
    #expect(repetitions.isRepeated("1", "status", from: script, at: 11 * hour) == true)
    #expect(repetitions.isRepeated("1", "status", from: script, at: 24 * hour) == false)
    #expect(repetitions.isRepeated("1", "status", from: script, at: 25 * hour) == true)
  }

  @Test("one account that sends without end, from any number of resources, pushes out only its own")
  func flood() throws {
    var repetitions = Repetitions()
    let alice = try jid("alice@example.net/phone")
    _ = repetitions.isRepeated("1", "ping", from: alice, at: 0)
    for number in 0..<5_000 {
      let mallory = try jid("mallory@example.net/r\(number % 700)")
      #expect(repetitions.isRepeated("\(number)", "x", from: mallory, at: 0) == false)
    }
    #expect(repetitions.isRepeated("1", "ping", from: alice, at: 0) == true)
    #expect(
      repetitions.isRepeated("0", "x", from: try jid("mallory@example.net/r0"), at: 0) == false, "it was pushed out")
    #expect(repetitions.isRepeated("4999", "x", from: try jid("mallory@example.net/r\(4999 % 700)"), at: 0) == true)
  }

  @Test("of many accounts those heard last are remembered")
  func crowd() throws {
    var table = RecentTable<Int, Int>(capacity: 100)
    for number in 0..<1_000 {
      table.update(number, else: 0) { $0 += number }
      table.update(-1, else: 0) { $0 += 1 }
      #expect(table.count <= 100)
    }
    #expect(table[-1] == 1_000 && table[999] == 999 && table[0] == nil)
  }
}
