import EventLoop
import JID
import Testing
import XMPPTesting

@testable import BotKit

/// Commands that end when the test says so, and what a dispatcher told about them.
@LoopActor
final class Stage {
  /// Started and not ended, by their text.
  private(set) var onStage: [String: CommandEvents] = [:]
  private(set) var started: [String] = []
  private(set) var finished: [String] = []
  private(set) var told: [String] = []
  private(set) var dispatcher: Dispatcher?

  init(concurrent: Int, queued: Int) {
    var hooks = Dispatcher.Hooks()
    hooks.onStarted = { [unowned self] in started.append($0.request.text) }
    hooks.onFinished = { [unowned self] in
      finished.append("\($0.request.text) \($1.result)")
      if let text = $1.text { told.append(text) }
    }
    dispatcher = Dispatcher(limits: .init(concurrent: concurrent, queued: queued), hooks: hooks)
  }

  func start(_ text: String, from sender: String, id: Int64 = 0) throws {
    let command = Command(CommandDescription(name: "test"), Actor(stage: self), origin: "test")
    let message = try ChatMessage(sender: JID(sender), body: "test " + text)
    var pending = try pending(command, text: text, from: message)
    pending.id = id
    dispatcher?.start(pending)
  }

  func end(_ text: String) { onStage.removeValue(forKey: text)?.finish(.done) }

  struct Actor: WaitingCommand {
    let stage: Stage

    func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
      stage.onStage[request.text] = events
      return Abandonable(events)
    }
  }
}

@Suite("Dispatcher")
struct DispatcherTests {
  init() { LoopThread.start() }

  @Test("only so many run at once; the rest wait in order, and one too many is answered busy")
  @LoopActor func bounded() throws {
    let stage = Stage(concurrent: 2, queued: 4)
    for (number, sender) in ["a", "b", "c", "d", "e", "f", "g"].enumerated() {
      try stage.start("\(number)", from: sender + "@example.org")
    }
    #expect(stage.started == ["0", "1"])
    #expect(stage.dispatcher?.queued == 4)
    #expect(stage.finished == ["6 busy"])
    stage.end("1")
    stage.end("0")
    #expect(stage.started == ["0", "1", "2", "3"])
    #expect(stage.finished == ["6 busy", "1 done", "0 done"])
  }

  @Test("who has too many commands waiting is told so once, until one of theirs is accepted again")
  @LoopActor func busyOnce() throws {
    let stage = Stage(concurrent: 2, queued: 2)
    for number in 0..<5 { try stage.start("a\(number)", from: "alice@example.org") }
    #expect(stage.finished == ["a2 busy", "a3 busy", "a4 busy"])
    #expect(stage.told == ["test: too many commands are running. Try again in a moment."])
    try stage.start("b0", from: "bob@example.org")
    try stage.start("b1", from: "bob@example.org")
    try stage.start("b2", from: "bob@example.org")
    #expect(stage.told.count == 2, "another sender is told, too")
    stage.end("a0")
    try stage.start("a5", from: "alice@example.org")
    try stage.start("a6", from: "alice@example.org")
    #expect(stage.told.count == 3)
  }

  @Test("a command is ended by its id, whether it runs or waits")
  @LoopActor func stopOne() throws {
    let stage = Stage(concurrent: 1, queued: 4)
    try stage.start("runs", from: "a@example.org", id: 1)
    try stage.start("waits", from: "b@example.org", id: 2)
    stage.dispatcher?.stop(3, .interrupted)
    #expect(stage.finished == [])
    stage.dispatcher?.stop(2, .interrupted)
    stage.dispatcher?.stop(1, .interrupted)
    #expect(stage.finished == ["waits interrupted", "runs interrupted"])
  }

  @Test("one sender's slow commands leave half of the places, and of the queue, to others")
  @LoopActor func fair() throws {
    let stage = Stage(concurrent: 4, queued: 4)
    for number in 0..<6 { try stage.start("a\(number)", from: "alice@example.org") }
    try stage.start("b", from: "bob@example.org")
    #expect(stage.started == ["a0", "a1", "b"])
    #expect(stage.finished == ["a4 busy", "a5 busy"])
    stage.end("b")
    #expect(stage.started == ["a0", "a1", "b"])
    stage.end("a0")
    #expect(stage.started == ["a0", "a1", "b", "a2"])
  }

  @Test("however much two have ordered, a third waits for no more than one command to end")
  @LoopActor func turns() throws {
    let stage = Stage(concurrent: 4, queued: 8)
    for number in 0..<4 { try stage.start("a\(number)", from: "alice@example.org") }
    for number in 0..<4 { try stage.start("b\(number)", from: "bob@example.org") }
    try stage.start("c0", from: "carol@example.org")
    #expect(stage.started == ["a0", "a1", "b0", "b1"])
    stage.end("a0")
    #expect(stage.started.last == "c0")
    stage.end("b0")
    #expect(stage.started.last == "a2")
  }

  @Test("draining lets what runs finish, interrupts what waits, and takes nothing more")
  @LoopActor func drain() throws {
    let stage = Stage(concurrent: 2, queued: 4)
    let drained = Box(0)
    for number in 0..<3 { try stage.start("\(number)", from: "s\(number)@example.org") }
    stage.dispatcher?.drain(deadline: .seconds(1000)) { drained.value += 1 }
    try stage.start("late", from: "late@example.org")
    #expect(stage.finished == ["2 interrupted", "late interrupted"])
    stage.end("0")
    #expect(drained.value == 0)
    stage.end("1")
    #expect(drained.value == 1)
    #expect(stage.finished.suffix(2) == ["0 done", "1 done"])
  }

  @Test("draining an idle dispatcher is done at once")
  @LoopActor func drainIdle() {
    let drained = Box(false)
    Stage(concurrent: 1, queued: 1).dispatcher?.drain(deadline: .seconds(1000)) { drained.value = true }
    #expect(drained.value)
  }

  @Test("what still runs at the deadline is interrupted")
  func deadline() async throws {
    let finished = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
      EventLoop.main.post {
        let stage = Stage(concurrent: 2, queued: 2)
        try? stage.start("slow", from: "alice@example.org")
        stage.dispatcher?.drain(deadline: .milliseconds(5)) {
          EventLoop.main.post { continuation.resume(returning: stage.finished) }
        }
      }
    }
    #expect(finished == ["slow interrupted"])
  }

  @Test("an end that comes twice, or after a stop, is told once")
  @LoopActor func once() throws {
    let stage = Stage(concurrent: 1, queued: 1)
    try stage.start("x", from: "alice@example.org")
    let events = stage.onStage["x"]
    events?.finish(.timedOut(.seconds(1)))
    events?.finish(.done)
    events?.reply("late")
    #expect(stage.finished.count == 1)
  }
}

@Suite("Swift handlers")
struct SwiftHandlerTests {
  struct Handler: CommandHandler {
    let description = CommandDescription(name: "swift", usage: "swift HOW")

    func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
      switch request.arguments.first {
      case "reply":
        reply("first")
        reply("second")
        return "last"
      case "nothing": return nil
      case "usage": throw CommandError.usage
      case "fail": throw CommandError.failed("the disk is full")
      case "surprise": throw Surprise()
      default:
        // Ends only by cancellation.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        return "cancelled"
      }
    }
  }

  struct Surprise: Error, CustomStringConvertible {
    let description = "secret detail"
  }

  @Test("replies arrive in order, the last text with the end")
  func replies() async throws {
    let told = try await run(Command(Handler()), text: "reply")
    #expect(told.actions == [.reply("first"), .reply("second")])
    #expect(told.text == "last")
  }

  @Test(
    "an error is told by its kind",
    arguments: [
      ("nothing", nil), ("usage", "Usage: swift HOW"), ("fail", "swift: failed (the disk is full)"),
      ("surprise", "swift: failed (the log says why)"),
    ] as [(String, String?)])
  func errors(how: String, text: String?) async throws {
    let told = try await run(Command(Handler()), text: how)
    #expect(told.text == text)
    #expect(told.log == (how == "surprise" ? ["secret detail"] : []))
  }

  @Test("a handler that does not end is cancelled at its time-out")
  func timeout() async throws {
    let told = try await run(Command(Handler(), timeout: .milliseconds(20)), text: "hang")
    #expect(told.text == "swift: stopped, it took longer than 20 ms")
  }
}

@Suite("Waiting built-ins")
struct WaitingBuiltinTests {
  let access: AccessPolicy

  init() throws {
    var access = AccessPolicy()
    try access.add([.address(JID("admin@example.org"))], toGroup: "admins")
    self.access = access
  }

  /// The search that `sender` causes, and what they are told when it finds `hits`.
  func search(
    _ text: String, from sender: String, hits: [SearchHit]?, isPartial: Bool = false, rooms: [JID] = [],
    _ change: (inout ChatMessage) -> Void = { _ in }
  ) async throws -> (SearchQuery?, String?) {
    let (queries, continuation) = AsyncStream.makeStream(of: SearchQuery.self)
    let access = access
    let service: SearchService = { query, done in
      continuation.yield(query)
      done(hits.map { SearchResult($0, isPartial: isPartial) })
      return {}
    }
    let command = Command(
      Search.description, Search(service: service, access: access, rooms: { _ in rooms }), origin: "test")
    var message = try ChatMessage(sender: JID(sender), body: "search " + text)
    change(&message)
    let told = try await run(command, text: text, from: message)
    continuation.finish()
    var query: SearchQuery?
    for await one in queries { query = one }
    return (query, told.text)
  }

  @Test("a contact finds only their own conversation, an administrator all")
  func scope() async throws {
    let bob = try JID("bob@example.org")
    let hits = [
      SearchHit(time: 1_769_878_800_000_000, peer: bob, outgoing: false, body: "where is\nthe  key"),
      SearchHit(time: 0, peer: bob, outgoing: true, body: "key: " + String(repeating: "x", count: 500)),
    ]
    let (own, text) = try await search("key 'the safe'", from: "bob@example.org/phone", hits: hits)
    #expect(
      own
        == SearchQuery(
          words: ["key", "the safe"], scope: .conversation(bob, rooms: []), before: 0, limit: 10, candidates: 100_000))
    #expect(text?.hasPrefix("2026-01-31 17:00 UTC you: where is the key\n1970-01-01 00:00 UTC me: key: xxx") == true)
    #expect(text?.hasSuffix("x…") == true)
    let (all, adminText) = try await search("key", from: "admin@example.org", hits: hits)
    #expect(all?.scope == .everything && all?.candidates == nil)
    #expect(adminText?.contains("bob@example.org: where is the key") == true)
  }

  @Test("in a room all read the answer, so it is about that room alone, even for an administrator")
  func room() async throws {
    let room = try JID("ops@rooms.example.org")
    let hits = [
      SearchHit(time: 0, peer: room, outgoing: false, body: "the key", nick: "bob"),
      SearchHit(time: 0, peer: room, outgoing: true, body: "which key?", nick: "bot"),
    ]
    let (query, text) = try await search("key", from: "admin@example.org", hits: hits) { $0.room = room }
    #expect(query?.scope == .room(room))
    #expect(text == "1970-01-01 00:00 UTC bob: the key\n1970-01-01 00:00 UTC me: which key?")
  }

  @Test("in a chat the rooms count in which the contact is at present; through a room, that room alone")
  func present() async throws {
    let room = try JID("ops@rooms.example.org")
    let bob = try JID("bob@example.org")
    let hit = SearchHit(time: 0, peer: room, outgoing: false, body: "the key", nick: "carol")
    let (query, text) = try await search("key", from: "bob@example.org", hits: [hit], rooms: [room])
    #expect(query?.scope == .conversation(bob, rooms: [room]))
    #expect(text == "1970-01-01 00:00 UTC carol in ops@rooms.example.org: the key")
    let hidden = try await search("key", from: "ops@rooms.example.org", hits: [hit]) {
      $0.room = room
      $0.isPrivate = true
    }
    #expect(hidden.0?.scope == .room(room), "and none of the private messages there")
  }

  @Test("a contact whose words are in too many messages is told that older ones were not looked at")
  func partial() async throws {
    let hit = SearchHit(time: 0, peer: try JID("bob@example.org"), outgoing: false, body: "key")
    let rest = "\n(Older messages were not looked at: too many have these words. Add a rarer word.)"
    let one = try await search("key", from: "bob@example.org", hits: [hit], isPartial: true).1
    #expect(one == "1970-01-01 00:00 UTC you: key" + rest)
    #expect(try await search("key", from: "bob@example.org", hits: [], isPartial: true).1 == "Nothing found." + rest)
  }

  @Test("a search that nobody waits for any longer is given up")
  func givenUp() async throws {
    let (ends, continuation) = AsyncStream.makeStream(of: String.self)
    let service: SearchService = { _, _ in { continuation.yield("given up") } }
    let command = Command(
      Search.description, Search(service: service, access: access, rooms: { _ in [] }), origin: "test",
      timeout: .milliseconds(20))
    #expect(try await run(command, text: "key").result == .timedOut(.milliseconds(20)))
    continuation.finish()
    var all: [String] = []
    for await end in ends { all.append(end) }
    #expect(all == ["given up"])
  }

  @Test("nothing found, no words, and an archive that is away are each told")
  func failures() async throws {
    #expect(try await search("x", from: "bob@example.org", hits: []).1 == "Nothing found. Try fewer or other words.")
    #expect(try await search("x", from: "bob@example.org", hits: nil).1 == "search: try again later")
    let (query, text) = try await search("", from: "bob@example.org", hits: [])
    #expect(query == nil)
    #expect(text == "Usage: search WORDS…")
  }

  @Test("reload tells whether the new configuration is in force")
  func reload() async throws {
    let good = Command(Reload.description, Reload { $0(ReloadOutcome()) }, origin: "test")
    #expect(try await run(good).text == "The new configuration is in force.")
    let partial = Command(Reload.description, Reload { $0(ReloadOutcome(refused: ["x: why"])) }, origin: "test")
    #expect(try await run(partial).text == "The new configuration is in force.\nNot offered:\nx: why")
    let later = Command(Reload.description, Reload { $0(ReloadOutcome(atRestart: ["account.jid"])) }, origin: "test")
    #expect(
      try await run(later).text == "The new configuration is in force.\nAt my next restart: account.jid")
    let bad = Command(
      Reload.description, Reload { $0(ReloadOutcome(faults: ["a.conf:3: no such key"])) }, origin: "test")
    #expect(try await run(bad).text?.hasSuffix("\na.conf:3: no such key") == true)
  }
}
