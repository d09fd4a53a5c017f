import EventLoop

/// Runs commands that wait: so many at once, so many in a queue, each with a time-out. No sender holds more than half of
/// the places, so that one contact's slow commands leave room for the others'.
@LoopActor
public final class Dispatcher {
  public struct Limits: Sendable, Hashable {
    /// How many run at once.
    public var concurrent: Int
    /// How many wait for a place; one more is answered "busy".
    public var queued: Int
    /// For commands that name none of their own.
    public var timeout: Duration

    public init(concurrent: Int = 8, queued: Int = 64, timeout: Duration = .seconds(60)) {
      self.concurrent = max(1, concurrent)
      self.queued = max(0, queued)
      self.timeout = timeout
    }

    var perSender: Int { max(1, concurrent / 2) }
    var queuedPerSender: Int { max(1, queued / 2) }
  }

  /// What the daemon is told, on the loop.
  public struct Hooks {
    /// It begins: the contact is shown "typing".
    public var onStarted: @LoopActor (PendingCommand) -> Void = { _ in }
    /// What it does for the contact before the end, but for its questions.
    public var onAction: @LoopActor (PendingCommand, CommandAction) -> Void = { _, _ in }
    /// It asks. Whether the question was put to the contact; if not, it hears that nothing can be asked.
    public var onQuestion: @LoopActor (PendingCommand, Question) -> Bool = { _, _ in false }
    /// It ended, once for each command given to `start`.
    public var onFinished: @LoopActor (PendingCommand, CommandOutcome) -> Void = { _, _ in }
    /// A line that it wrote for the operator.
    public var onLog: @LoopActor (PendingCommand, String) -> Void = { _, _ in }
    public nonisolated init() {}
  }

  private final class Execution {
    let command: PendingCommand
    let began = ContinuousClock.now
    let limit: Duration
    var running: (any RunningCommand)?
    var timer: TimerSource?
    var time: CommandTime
    /// It waits for its contact, who may take their time; meanwhile it holds no place.
    var isAsking = false

    init(_ command: PendingCommand, limit: Duration) {
      self.command = command
      self.limit = limit
      time = CommandTime(limit, from: began)
    }
  }

  public var limits: Limits
  private let hooks: Hooks
  private var executions: [ObjectIdentifier: Execution] = [:]
  private var waiting: [PendingCommand] = []
  /// Who was told that too many commands are running, and has had none accepted since.
  private var toldBusy: Set<Speaker> = []
  private var draining: (timer: TimerSource, completion: @LoopActor () -> Void)?

  public init(limits: Limits = Limits(), hooks: Hooks) {
    self.limits = limits
    self.hooks = hooks
  }

  /// How many run now.
  public var running: Int { executions.count }

  /// How many wait for a place.
  public var queued: Int { waiting.count }

  /// Runs `command`, now or when a place is free. Its end is always told to `onFinished`, possibly before this returns.
  public func start(_ command: PendingCommand) {
    if draining != nil { return refuse(command, .interrupted) }
    let speaker = command.request.message.speaker
    if hasPlace(for: command) {
      toldBusy.remove(speaker)
      return run(command)
    }
    let own = waiting.count { $0.request.message.speaker == speaker }
    if waiting.count >= limits.queued || own >= limits.queuedPerSender {
      return refuse(command, .busy, isSilent: !toldBusy.insert(speaker).inserted)
    }
    toldBusy.remove(speaker)
    waiting.append(command)
  }

  /// Takes no more commands; those that wait are interrupted now, those that run after `deadline`. `completion` is
  /// called once when none is left, which is a few seconds after the deadline at the latest.
  public func drain(deadline: Duration, completion: @escaping @LoopActor () -> Void) {
    let timer = TimerSource(after: deadline) { [weak self] in
      self?.executions.values.forEach { $0.running?.stop(.interrupted) }
    }
    draining = (timer, completion)
    let left = waiting
    waiting = []
    left.forEach { refuse($0, .interrupted) }
    // Nobody is waited for who has been asked something.
    let asking = executions.values.filter(\.isAsking)
    asking.forEach { $0.running?.stop(.interrupted) }
    completeDrain()
  }

  /// Gives a running command the answer to its question. `id`: the daemon's number for it (`PendingCommand.id`).
  public func answer(_ id: Int64, _ answer: QuestionAnswer) {
    guard let execution = execution(id), execution.isAsking else { return }
    execution.isAsking = false
    execution.time.goOn(at: .now)
    limitTime(of: execution)
    execution.running?.answered(answer)
  }

  /// Ends a command for a reason of the contact's; one that waits is never started.
  public func stop(_ id: Int64, _ reason: CommandResult) {
    if let execution = execution(id) {
      execution.running?.stop(reason)
    } else if let index = waiting.firstIndex(where: { $0.id == id }) {
      refuse(waiting.remove(at: index), reason)
    }
  }

  private func execution(_ id: Int64) -> Execution? { executions.values.first { $0.command.id == id } }

  private func hasPlace(for command: PendingCommand) -> Bool {
    let busy = executions.values.lazy.filter { !$0.isAsking }
    guard busy.count < limits.concurrent else { return false }
    let speaker = command.request.message.speaker
    return busy.count { $0.command.request.message.speaker == speaker } < limits.perSender
  }

  private func run(_ command: PendingCommand) {
    let execution = Execution(command, limit: command.timeout ?? limits.timeout)
    let key = ObjectIdentifier(execution)
    executions[key] = execution
    hooks.onStarted(command)
    let events = CommandEvents(
      .init(
        perform: { [weak self] action in self?.perform(action, of: execution) },
        log: { [hooks] line in hooks.onLog(command, line) },
        finish: { [weak self] result, text in self?.ended(execution, result, text) }))
    let running = command.action.start(command.request, events)
    guard executions[key] != nil else { return }
    execution.running = running
    if !execution.isAsking { limitTime(of: execution) }
  }

  private func limitTime(of execution: Execution) {
    execution.timer = TimerSource(after: execution.time.left) { [unowned execution] in
      execution.running?.stop(.timedOut(execution.limit))
    }
  }

  private func perform(_ action: CommandAction, of execution: Execution) {
    guard case .ask(let question) = action else { return hooks.onAction(execution.command, action) }
    // Who is ending waits for nobody.
    guard draining == nil, hooks.onQuestion(execution.command, question) else {
      // Not at once, for the command may not be ready for it.
      return EventLoop.main.post { [weak execution] in execution?.running?.answered(.unavailable) }
    }
    execution.isAsking = true
    execution.time.stop(at: .now)
    execution.timer?.cancel()
    execution.timer = nil
    startWaiting()
  }

  /// A place goes to whoever holds the fewest, and among these to who waits longest: however much some have ordered, others
  /// wait for no more than one command to end.
  private func startWaiting() {
    while let next = next() { run(waiting.remove(at: next)) }
  }

  private func next() -> Int? {
    guard !waiting.isEmpty else { return nil }
    var held: [Speaker: Int] = [:]
    for execution in executions.values where !execution.isAsking {
      held[execution.command.request.message.speaker, default: 0] += 1
    }
    let places = { (index: Int) in held[self.waiting[index].request.message.speaker, default: 0] }
    return waiting.indices.filter { hasPlace(for: waiting[$0]) }.min { (places($0), $0) < (places($1), $1) }
  }

  private func ended(_ execution: Execution, _ result: CommandResult, _ text: String?) {
    execution.timer?.cancel()
    execution.running = nil
    executions[ObjectIdentifier(execution)] = nil
    hooks.onFinished(
      execution.command,
      CommandOutcome(
        execution.command.description, result, text,
        duration: execution.began.duration(to: .now)))
    startWaiting()
    // The crowd has gone.
    if waiting.isEmpty { toldBusy = [] }
    completeDrain()
  }

  private func refuse(_ command: PendingCommand, _ result: CommandResult, isSilent: Bool = false) {
    var outcome = CommandOutcome(command.description, result, nil, duration: .zero)
    if isSilent { outcome.ending = nil }
    hooks.onFinished(command, outcome)
  }

  private func completeDrain() {
    guard executions.isEmpty, let (timer, completion) = draining else { return }
    timer.cancel()
    draining = (timer, {})
    completion()
  }
}

/// How a command ended, and the last text that its sender gets.
public struct CommandOutcome: Sendable, Hashable {
  public let result: CommandResult
  /// What it printed, as far as it was not sent before.
  public var printed: String?
  /// A sentence about how it ended, where that needs saying.
  public fileprivate(set) var ending: String?
  /// Both of them.
  public var text: String? { printed.map { text in ending.map { text + "\n" + $0 } ?? text } ?? ending }
  /// From its start to its end; zero when it never started.
  public let duration: Duration

  init(
    _ command: CommandDescription, _ result: CommandResult, _ text: String?, duration: Duration
  ) {
    printed = text.flatMap { $0.isEmpty ? nil : $0 }
    ending = Answers.ending(of: command, result)
    self.result = result
    self.duration = duration
  }
}
