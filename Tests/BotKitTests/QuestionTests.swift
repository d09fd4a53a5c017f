import EventLoop
import JID
import Testing
import XMPPTesting

@testable import BotKit

@Suite("Commands that ask")
struct QuestionTests {
  init() { LoopThread.start() }

  /// Asks until it has an answer, and says what it got.
  private struct Asker: CommandHandler {
    let description = CommandDescription(name: "ask")
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
      "\(await reply.ask(Question("How many?", fields: [CommandField("count")])))"
    }
  }

  @LoopActor
  private final class Bench {
    var asked: [Question] = []
    /// Somebody is there to answer.
    var canAsk = true
    var finished: [String] = []
    private(set) var dispatcher: Dispatcher?
    var onAsked: @LoopActor () -> Void = {}
    var onFinished: @LoopActor () -> Void = {}

    init(_ limits: Dispatcher.Limits = .init()) {
      var hooks = Dispatcher.Hooks()
      hooks.onQuestion = { [unowned self] _, question in
        guard canAsk else { return false }
        asked.append(question)
        onAsked()
        return true
      }
      hooks.onFinished = { [unowned self] command, outcome in
        finished.append("\(command.id): \(outcome.text ?? "\(outcome.result)")")
        onFinished()
      }
      dispatcher = Dispatcher(limits: limits, hooks: hooks)
    }

    func start(_ command: Command, id: Int64) throws {
      var command = try pending(command)
      command.id = id
      dispatcher?.start(command)
    }

    func awaitQuestion() async {
      await withCheckedContinuation { next in
        onAsked = { [unowned self] in
          onAsked = {}
          next.resume()
        }
      }
    }

    /// Until so many commands have ended.
    func awaitEnd(_ count: Int = 1) async {
      while finished.count < count {
        await withCheckedContinuation { next in
          onFinished = { [unowned self] in
            onFinished = {}
            next.resume()
          }
        }
      }
    }
  }

  @Test("a handler goes on with the answer to its question")
  @LoopActor func answer() async throws {
    let bench = Bench()
    try bench.start(Command(Asker()), id: 1)
    await bench.awaitQuestion()
    #expect(bench.asked == [Question("How many?", fields: [CommandField("count")])])
    bench.dispatcher?.answer(2, .back)
    bench.dispatcher?.answer(1, .values(["count": "3"]))
    await bench.awaitEnd()
    #expect(bench.finished == ["1: values([\"count\": \"3\"])"])
  }

  @Test("one that is stopped while it waits for an answer ends")
  @LoopActor func stopped() async throws {
    let bench = Bench()
    try bench.start(Command(Asker()), id: 1)
    await bench.awaitQuestion()
    bench.dispatcher?.stop(1, .cancelled)
    #expect(bench.finished == ["1: cancelled by the contact"])
    #expect(bench.dispatcher?.running == 0)
  }

  @Test("who waits for a contact holds no place, and its time stands still")
  @LoopActor func place() async throws {
    let bench = Bench(.init(concurrent: 1, queued: 4, timeout: .milliseconds(30)))
    struct AsksAtOnce: WaitingCommand {
      func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
        events.perform(.ask(Question("How many?", fields: [])))
        return Abandonable(events)
      }
    }
    let asker = Command(CommandDescription(name: "ask"), AsksAtOnce(), origin: "test")
    try bench.start(asker, id: 1)
    try bench.start(asker, id: 2)
    #expect(bench.asked.count == 2)
    // A third that never ends is stopped at its time-out, which began later than that of the others.
    struct Endless: WaitingCommand {
      func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand { Abandonable(events) }
    }
    try bench.start(Command(CommandDescription(name: "endless"), Endless(), origin: "test"), id: 3)
    await bench.awaitEnd()
    #expect(bench.finished == ["3: endless: stopped, it took longer than 30 ms"])
    bench.dispatcher?.stop(1, .cancelled)
    bench.dispatcher?.stop(2, .cancelled)
  }

  @Test("a question that nobody can be asked is answered so; meanwhile the command keeps its place")
  @LoopActor func nobody() async throws {
    let bench = Bench(.init(concurrent: 1, queued: 4))
    bench.canAsk = false
    struct AsksAtOnce: WaitingCommand {
      func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
        final class Running: RunningCommand {
          let events: CommandEvents
          init(_ events: CommandEvents) { self.events = events }
          func stop(_ reason: CommandResult) { events.finish(reason) }
          func answered(_ answer: QuestionAnswer) { events.finish(.done, "\(answer)") }
        }
        events.perform(.ask(Question("How many?", fields: [])))
        return Running(events)
      }
    }
    let asker = Command(CommandDescription(name: "ask"), AsksAtOnce(), origin: "test")
    try bench.start(asker, id: 1)
    try bench.start(asker, id: 2)
    #expect(bench.dispatcher?.running == 1 && bench.dispatcher?.queued == 1)
    await bench.awaitEnd(2)
    #expect(bench.finished == ["1: unavailable", "2: unavailable"])
  }

  @Test("one that waits for a place is never started when its contact cancels")
  @LoopActor func neverStarted() throws {
    struct Endless: WaitingCommand {
      func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand { Abandonable(events) }
    }
    let bench = Bench(.init(concurrent: 1, queued: 4))
    let command = Command(CommandDescription(name: "endless"), Endless(), origin: "test")
    try bench.start(command, id: 1)
    try bench.start(command, id: 2)
    bench.dispatcher?.stop(2, .cancelled)
    #expect(bench.finished == ["2: cancelled by the contact"])
    #expect(bench.dispatcher?.queued == 0)
    bench.dispatcher?.stop(1, .cancelled)
  }

  @Test("when the bot ends, nobody is waited for who has been asked")
  @LoopActor func drain() async throws {
    let bench = Bench()
    try bench.start(Command(Asker()), id: 1)
    await bench.awaitQuestion()
    let isDrained = Box(false)
    bench.dispatcher?.drain(deadline: .seconds(3_600)) { isDrained.value = true }
    #expect(isDrained.value)
    #expect(bench.finished.count == 1)
  }

  @Test("a bot that ends puts no more questions")
  @LoopActor func late() async throws {
    let bench = Bench()
    let asker = Command(Asker())
    try bench.start(asker, id: 1)
    // Its question comes by way of another thread.
    bench.dispatcher?.drain(deadline: .seconds(3_600)) {}
    await bench.awaitEnd()
    #expect(bench.asked == [])
    #expect(bench.finished == ["1: unavailable"])
  }
}
