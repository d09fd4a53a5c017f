import EventLoop
import JID

/// Keeps one handler running: starts it, starts it again when it ends, and joins its talk to the commands that wait for it.
@LoopActor
final class Handler {
  let description: HandlerDescription
  private unowned let owner: Handlers
  private let limits: HandlerLimits
  private var dialogue: HandlerDialogue
  private var process: HandlerProcess?
  /// Commands that it has not answered yet, by their ids.
  private var runs: [Int: HandlerRun] = [:]
  /// Those of them that came while no process was there, until when they wait.
  private var held: [Int: TimerSource] = [:]
  private(set) var registered: [CommandDescription] = []
  private var policy: RestartPolicy
  private(set) var restarts = 0
  /// How its last process ended.
  private(set) var lastEnd: String?
  /// When it is started again, while it does not run.
  private(set) var nextStart: ContinuousClock.Instant?
  private var restartTimer: TimerSource?
  private var pongTimer: TimerSource?
  /// Set when it is to end for good; called when it has.
  private var onRetired: (@LoopActor () -> Void)?
  private var deadlineTimer: TimerSource?
  private(set) var hasBegun = false

  /// How many commands one handler may add.
  static let mostRegistered = 100

  init(_ description: HandlerDescription, owner: Handlers) {
    self.description = description
    self.owner = owner
    limits = owner.limits
    dialogue = HandlerDialogue(description, limits: limits)
    policy = RestartPolicy(first: limits.firstRestart, longest: limits.longestRestart)
  }

  var isRunning: Bool { process != nil }
  var inFlight: Int { runs.count }

  /// The commands that it serves, those that it registered last.
  var commands: [CommandDescription] {
    let own = description.commands.map { name in
      registered.first { $0.name == name } ?? describe(name, nil, nil)
    }
    return own + registered.filter { !description.commands.contains($0.name) }
  }

  private func describe(_ name: String, _ summary: String?, _ usage: String?) -> CommandDescription {
    CommandDescription(
      name: name, description: summary ?? description.summary, usage: usage, allow: description.allow,
      places: description.places)
  }

  // MARK: - Its life

  func start() {
    hasBegun = true
    restartTimer = nil
    nextStart = nil
    dialogue = HandlerDialogue(description, limits: limits)
    var hooks = HandlerProcess.Hooks()
    hooks.line = { [unowned self] in take($0) }
    hooks.errorLine = { [unowned self] in apply(dialogue.errorLine($0, now: .now)) }
    hooks.written = { [unowned self] in apply(dialogue.read($0)) }
    hooks.ended = { [unowned self] in ended($0.asHandlerEnd) }
    do throws(LaunchFailure) {
      process = try HandlerProcess(description, launcher: owner.launcher, limits: limits, hooks: hooks)
    } catch {
      return restart(because: error.log, after: policy.pause(afterRunningFor: .zero))
    }
    process?.setReading(owner.reads)
    owner.hooks.notice(.started(handler: description.name))
    apply(dialogue.begin(jid: owner.jid, commands: commands.map(\.name)))
    let waiting = held.sorted { $0.key < $1.key }
    held = [:]
    for (number, timer) in waiting {
      timer.cancel()
      if let run = runs[number] { apply(dialogue.command(number, run.request)) }
    }
  }

  private func ended(_ how: String) {
    guard let ended = process else { return }
    process = nil
    pongTimer?.cancel()
    apply(dialogue.ended())
    if let onRetired {
      deadlineTimer?.cancel()
      self.onRetired = nil
      owner.hooks.notice(.ended(handler: description.name, how: how, next: nil))
      return onRetired()
    }
    restart(because: how, after: policy.pause(afterRunningFor: ended.began.duration(to: .now)))
  }

  private func restart(because how: String, after pause: Duration) {
    restarts += 1
    lastEnd = how
    nextStart = .now + pause
    owner.hooks.notice(.ended(handler: description.name, how: how, next: pause))
    restartTimer = TimerSource(after: pause) { [unowned self] in start() }
  }

  /// Ends it for good: it may finish its commands until `deadline`. `completion` is called when it has ended.
  func retire(within deadline: Duration, completion: @escaping @LoopActor () -> Void) {
    restartTimer?.cancel()
    guard let process else { return completion() }
    onRetired = completion
    apply(dialogue.shutdown(within: deadline))
    deadlineTimer = TimerSource(after: deadline) { [unowned self] in self.process?.terminate() }
    if runs.isEmpty { process.endInput() }
  }

  /// Commands that no process has seen yet, for whoever takes its place.
  func giveUpHeld() -> [HandlerRun] {
    let waiting = held.sorted { $0.key < $1.key }
    held = [:]
    return waiting.compactMap { number, timer in
      timer.cancel()
      return runs.removeValue(forKey: number)
    }
  }

  func setReading(_ reads: Bool) {
    dialogue.putOffPong(now: .now)
    watchPong()
    process?.setReading(reads)
  }

  // MARK: - To it

  func take(_ run: HandlerRun) {
    let number = owner.nextNumber()
    runs[number] = run
    run.cancel = { [weak self] reason in self?.cancel(number, reason) }
    guard process == nil else { return apply(dialogue.command(number, run.request)) }
    held[number] = TimerSource(after: limits.hold) { [unowned self] in
      held[number] = nil
      runs.removeValue(forKey: number)?.events.finish(.tryLater)
    }
  }

  private func cancel(_ number: Int, _ reason: CommandResult) {
    guard let run = runs.removeValue(forKey: number) else { return }
    if let timer = held.removeValue(forKey: number) {
      timer.cancel()
    } else {
      apply(dialogue.cancel(number, reason, now: .now))
      watchPong()
    }
    run.events.finish(reason)
    endInputIfIdle()
  }

  func heard(_ message: ChatMessage) {
    guard process != nil else { return }
    apply(dialogue.message(owner.nextNumber(), message))
  }

  func heard(_ event: RoomEvent) {
    if process != nil { apply(dialogue.room(event)) }
  }

  func heard(_ presence: ContactPresence) {
    guard process != nil else { return }
    apply(dialogue.presence(presence))
  }

  private func watchPong() {
    pongTimer?.cancel()
    guard let due = dialogue.pongDue else { return }
    pongTimer = TimerSource(after: ContinuousClock.now.duration(to: due)) { [unowned self] in
      if !owner.reads {
        dialogue.putOffPong(now: .now)
        return watchPong()
      }
      guard dialogue.isHanging(at: .now) else { return }
      log(
        .warning,
        "a command of it took too long, and then it answered no ping: it hangs, or it does not flush what it writes; it is ended"
      )
      process?.terminate()
    }
  }

  // MARK: - From it

  private func take(_ line: LineBuffer.Line) {
    dialogue.output = owner.output
    switch line {
    case .line(let bytes): apply(dialogue.line(bytes, now: .now))
    case .tooLong(let count): apply(dialogue.lineTooLong(count, now: .now))
    }
  }

  private func apply(_ actions: [HandlerDialogue.Action]) {
    for action in actions {
      switch action {
      case .write(let bytes): process?.write(bytes)
      case .perform(let number, let action): runs[number]?.events.perform(action)
      case .finish(let number, let result, let text):
        runs.removeValue(forKey: number)?.events.finish(result, text)
        endInputIfIdle()
      case .answer(let message, let action): owner.hooks.answer(message, action)
      case .send(let recipient, let text): send(text, to: recipient)
      case .register(let name, let summary, let usage): register(name, summary, usage)
      case .log(let severity, let text): log(severity, text)
      }
    }
  }

  private func endInputIfIdle() {
    if onRetired != nil, runs.isEmpty { process?.endInput() }
  }

  private func send(_ text: String, to recipient: String) {
    guard let jid = try? JID(recipient) else {
      return complain("send: \(Answers.quoted(recipient)) is no address")
    }
    guard owner.hooks.maySend(jid, description.send) else {
      return complain(
        "send: \(jid.bare) is not among those whom `send` in \(description.origin) names; nothing was sent")
    }
    guard !text.isEmpty else { return complain("send: the text is empty") }
    owner.hooks.send(jid, text)
  }

  private func register(_ name: String, _ summary: String?, _ usage: String?) {
    let command = describe(name, summary.map { Self.line($0, 200) }, usage.map { Self.line($0, 500) })
    let isKnown = registered.contains { $0.name == name }
    guard isKnown || registered.count < Self.mostRegistered else {
      return complain("register: \(Self.mostRegistered) commands are enough")
    }
    guard onRetired == nil else { return }
    if let fault = owner.hooks.register(owner.command(command, of: description)) {
      return complain("register: \(Answers.quoted(name)): \(fault.problem): \(fault.remedy)")
    }
    registered.removeAll { $0.name == name }
    registered.append(command)
  }

  /// Whatever a program says of itself stands in a list.
  private static func line(_ text: String, _ longest: Int) -> String {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    return line.count <= longest ? line : line.prefix(longest - 1) + "…"
  }

  private func complain(_ text: String) { apply(dialogue.complain(text, now: .now)) }

  private func log(_ severity: HandlerSeverity, _ text: String) {
    owner.hooks.notice(.said(handler: description.name, severity, text))
  }
}
