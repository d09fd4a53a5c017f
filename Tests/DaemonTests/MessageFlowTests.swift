import Archive
import BotKit
import EventLoop
import JID
import Testing
import XMPPTesting

@testable import Daemon

@Suite("A message: decided, committed, then acted upon")
struct MessageFlowTests {
  init() { LoopThread.start() }

  @Test("question and answer are archived, and the answer goes to the resource that asked")
  @LoopActor func exchange() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping x", id: "m1", more: "<thread>t</thread>")
    try bench.expectAnswer("pong x", more: "<thread>t</thread>")
    try bench.expectSilence()
    let rows = try await bench.rows()
    #expect(try await bench.transcript() == ["< ping x", "> pong x (sent)"])
    #expect(rows[0].messageID == "m1" && rows[0].peer == "alice@example.net" && rows[0].resource == "phone")
    #expect(rows[0].time == bench.now && rows[0].state == .received)
    #expect(rows[1].originID == rows[1].messageID && rows[1].thread == "t" && rows[1].peer == "alice@example.net")
    #expect(bench.flow.archived == 2)
  }

  @Test("nothing is answered before it is committed")
  @LoopActor func commitFirst() async throws {
    let bench = try await FlowBench.online()
    let disk = bench.holdDisk()
    try bench.play(
      "server: <message from='alice@example.net/phone' type='chat' id='m1'><body>ping</body></message>")
    try bench.expectSilence()
    disk.open()
    await bench.settle()
    try bench.expectAnswer("pong")
  }

  @Test("a command is not started before its message is committed")
  @LoopActor func commitBeforeRunning() async throws {
    let bench = try await FlowBench.online([Slow()])
    let disk = bench.holdDisk()
    try bench.play(
      "server: <message from='alice@example.net/phone' type='chat' id='m1'><body>slow</body></message>")
    #expect(bench.dispatcher.running == 0)
    try bench.expectSilence()
    disk.open()
    await bench.settle()
    #expect(bench.dispatcher.running == 1)
  }

  @Test(
    "what can be no command is archived and gets no answer",
    arguments: [
      (
        "error", "alice@example.net/phone",
        "<error type='cancel'><gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
      ),
      ("headline", "alice@example.net/phone", ""),
      ("chat", "bot@example.org/other", ""),
      ("chat", "example.net", ""),
      ("chat", "alice@example.net/phone", "<replace xmlns='urn:xmpp:message-correct:0' id='m0'/>"),
      ("chat", "room@conference.example.net/alice", "<x xmlns='http://jabber.org/protocol/muc#user'/>"),
    ])
  @LoopActor func neverAnswered(type: String, from: String, more: String) async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping", id: "m1", from: from, type: type, more: more)
    try bench.expectSilence()
    #expect(try await bench.transcript() == ["< ping"])
  }

  @Test("a carbon that nobody asked for is neither archived nor answered")
  @LoopActor func forgedCarbon() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping", id: "m1", more: "<received xmlns='urn:xmpp:carbons:2'/>")
    try bench.expectSilence()
    #expect(try await bench.rows().isEmpty)
  }

  @Test("a message that the server sends twice is archived and answered once")
  @LoopActor func duplicateStanzaID() async throws {
    let bench = try await FlowBench.online()
    // Whether ids count is known once the server has said that it replaces forged ones.
    try bench.play(
      """
      server: <iq type='result' id='$1own' from='bot@example.org'>
       <query xmlns='http://jabber.org/protocol/disco#info'><feature var='urn:xmpp:sid:0'/></query></iq>
      """)
    let id = "<stanza-id xmlns='urn:xmpp:sid:0' by='bot@example.org' id='s1'/>"
    try await bench.receive("ping", id: "m1", more: id)
    try bench.expectAnswer("pong")
    try await bench.receive("ping", id: "m2", more: id)
    try bench.expectSilence()
    #expect(try await bench.transcript() == ["< ping", "> pong (sent)"])
  }

  @Test("a message that a client sends again under the same id is archived as it came, and answered once")
  @LoopActor func repeatedID() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping", id: "m1")
    try bench.expectAnswer("pong")
    try await bench.receive("ping", id: "m1")
    try bench.expectSilence()
    // Another text under the same id is another message: some clients count from 1 each time.
    try await bench.receive("ping 2", id: "m1")
    try bench.expectAnswer("pong 2")
    #expect(try await bench.transcript().filter { $0.hasPrefix("<") } == ["< ping", "< ping", "< ping 2"])
  }

  @Test("a command that comes too late is archived and not run, and its sender is told; a younger one is run")
  @LoopActor func delayed() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive(
      "ping", id: "m1", more: "<delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:40:00Z'/>")
    try bench.expectAnswer("ping reached me too late to run it safely. Send it again if you still want it.")
    try await bench.receive(
      "ping", id: "m2", more: "<delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:45:00Z'/>")
    try bench.expectAnswer("pong")
    #expect(try await bench.rows()[0].delay == 999_999_600_000_000)
  }

  @Test("a stamp from the future, or of the year 0, does no harm")
  @LoopActor func absurdStamps() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive(
      "ping", id: "m1", more: "<delay xmlns='urn:xmpp:delay' stamp='9999-12-31T23:59:59Z'/>")
    try bench.expectAnswer("pong")
    try await bench.receive("ping", id: "m2", more: "<delay xmlns='urn:xmpp:delay' stamp='0000-01-01T00:00:00Z'/>")
    try await bench.receive("ping", id: "m3", more: "<delay xmlns='urn:xmpp:delay' stamp='nonsense'/>")
    #expect(try await bench.transcript().filter { $0 == "< ping" }.count == 3)
  }

  @Test("while a Swift handler runs the contact sees it typing; its answer is archived and sent in its thread")
  @LoopActor func handler() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await bench.receive("slow", id: "m1", more: "<thread>t</thread>")
    try bench.play(
      """
      bot: <message type='chat' to='alice@example.net/phone' id='$any'><thread>t</thread>
       <composing xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
    try bench.expectSilence()
    await slow.gate.open()
    await bench.finishCommands()
    try bench.expectAnswer("at last", more: "<thread>t</thread>")
    #expect(try await bench.transcript() == ["< slow", "> at last (sent)"])
  }

  @Test("a handler that takes too long is answered for, and one that is not for everybody is denied")
  @LoopActor func timedOutAndDenied() async throws {
    struct Secret: CommandHandler {
      let description = CommandDescription(name: "secret", description: "For administrators")
      func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "42" }
    }
    let slow = Slow()
    let bench = try await FlowBench.online([slow, Secret()], admins: ["root@example.org"])
    bench.dispatcher.limits = .init(timeout: .milliseconds(20))
    try await bench.receive("slow", id: "m1")
    await bench.finishCommands()
    #expect(try await bench.rows()[1].body == "slow: stopped, it took longer than 20 ms")
    try await bench.receive("secret", id: "m2")
    #expect(bench.recording.messages(.commandDenied) == ["alice@example.net may not use secret"])
    try await bench.receive("secret", id: "m3", from: "root@example.org/desk")
    await bench.finishCommands()
    #expect(try await bench.rows().last?.body == "42")
    await slow.gate.open()
  }

  @Test("an error that comes back makes our message fail, but only when its recipient sends it")
  @LoopActor func bounce() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping", id: "m1")
    let id = try #require(try await bench.rows()[1].messageID)
    let error = "<error type='cancel'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
    try await bench.receive("pong", id: id, from: "eve@evil.example/x", type: "error", more: error)
    #expect(try await bench.rows()[1].state == .sent)
    try await bench.receive("pong", id: id, type: "error", more: error)
    let row = try await bench.rows()[1]
    #expect(row.state == .failed && row.error == "item-not-found")
    #expect(
      bench.recording.messages(.messageBounced).last == "a message to alice@example.net came back: item-not-found")
  }

  @Test("what `search` finds is older than the question, and of one's own conversation; administrators see all")
  @LoopActor func search() async throws {
    let old = NewMessage(.in, .chat, peer: "alice@example.net", time: 1_000_000, body: "the key is here")
    let other = NewMessage(.in, .chat, peer: "bob@example.net", time: 2_000_000, body: "another key")
    let bench = try await FlowBench(admins: ["root@example.org"], queued: [old, other])
    try await bench.goOnline()
    for (index, text) in ["search key", "search *", "search '' \"", "search"].enumerated() {
      try await bench.receive(text, id: "m\(index)")
      await bench.finishCommands()
    }
    try await bench.receive("search key", id: "r", from: "root@example.org/desk")
    await bench.finishCommands()
    let answers = try await bench.rows().filter { $0.direction == .out }.compactMap(\.body)
    #expect(
      answers == [
        "1970-01-01 00:00 UTC you: the key is here", "Nothing found. Try fewer or other words.",
        "Nothing found. Try fewer or other words.", "Usage: search WORDS…",
        "1970-01-01 00:00 UTC bob@example.net: another key\n1970-01-01 00:00 UTC alice@example.net: the key is here",
      ])
  }

  @Test("the XML is kept when asked for")
  @LoopActor func rawXML() async throws {
    let bench = try await FlowBench.online()
    bench.flow.keepsRawXML = true
    try await bench.receive("hello", id: "m1")
    #expect(try await bench.rows()[0].rawXML?.contains("<body>hello</body>") == true)
  }

  @Test("bodies are logged nowhere")
  @LoopActor func bodiesAreNotLogged() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping CONFIDENTIAL", id: "m1")
    try await bench.receive("CONFIDENTIAL", id: "m2")
    #expect(!bench.recording.all.isEmpty)
    #expect(!bench.recording.all.contains { $0.message.contains("CONFIDENTIAL") })
  }
}

extension FlowBench {
  /// Until no command runs any more and what it said is archived.
  func finishCommands() async {
    while dispatcher.running > 0 { await withCheckedContinuation { next in EventLoop.main.post { next.resume() } } }
    await settle()
  }
}
