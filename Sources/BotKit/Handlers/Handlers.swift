import EventLoop
import JID

/// All long-running handlers of a bot.
@LoopActor
public final class Handlers {
  /// What the daemon does for handlers, on the loop.
  public struct Hooks {
    /// Whether any of the rules admits this recipient.
    public var maySend: @LoopActor (JID, [AccessRule]) -> Bool = { _, _ in false }
    public var send: @LoopActor (JID, String) -> Void = { _, _ in }
    /// Something for the sender of a message, for which no command runs: a reply, or a reaction.
    public var answer: @LoopActor (ChatMessage, CommandAction) -> Void = { _, _ in }
    /// Offers a command, or describes it anew; why that can't be.
    public var register: @LoopActor (Command) -> CommandDiagnostic? = { _ in nil }
    public var notice: @LoopActor (HandlerNotice) -> Void = { _ in }
    public nonisolated init() {}
  }

  let jid: String
  /// What starts those that are started from now on.
  public var launcher: any ProgramLauncher
  let limits: HandlerLimits
  /// Bytes of one text for a contact; more is cut off.
  public var output = 65_536
  let hooks: Hooks
  private var handlers: [Handler] = []
  /// Those that finish what they have begun.
  private var retiring: [Handler] = []
  private var isStarted = false
  private var number = 0
  /// Whether the handlers' lines are read.
  public private(set) var reads = true
  private var onEnd: (@LoopActor () -> Void)?

  /// - Parameter jid: the bot's bare address.
  public init(jid: String, launcher: any ProgramLauncher, limits: HandlerLimits = HandlerLimits(), hooks: Hooks) {
    self.jid = jid
    self.launcher = launcher
    self.limits = limits
    self.hooks = hooks
  }

  /// The handlers as they are wanted from now on. One whose description is the same goes on running; one whose is not
  /// finishes what it has begun, while its successor takes what comes.
  public func update(_ descriptions: [HandlerDescription]) {
    let before = handlers
    handlers = descriptions.map { wanted in
      before.first { $0.description == wanted } ?? Handler(wanted, owner: self)
    }
    for old in before where !handlers.contains(where: { $0 === old }) {
      let orphans = old.giveUpHeld()
      retire(old, within: limits.shutdown)
      for run in orphans { take(run, section: old.description.name) }
    }
    if isStarted { startNew() }
  }

  public func start() {
    isStarted = true
    startNew()
  }

  private func startNew() {
    for handler in handlers where !handler.hasBegun { handler.start() }
  }

  /// Ends them all: they may finish their commands until `deadline`. `completion` is called when none is left, a few
  /// seconds after the deadline at the latest.
  public func stop(within deadline: Duration, completion: @escaping @LoopActor () -> Void) {
    isStarted = false
    onEnd = completion
    let all = handlers
    handlers = []
    for handler in all {
      for run in handler.giveUpHeld() { run.events.finish(.interrupted) }
      retire(handler, within: deadline)
    }
    endIfNoneIsLeft()
  }

  private func retire(_ handler: Handler, within deadline: Duration) {
    retiring.append(handler)
    handler.retire(within: deadline) { [weak self, weak handler] in
      self?.retiring.removeAll { $0 === handler }
      self?.endIfNoneIsLeft()
    }
  }

  private func endIfNoneIsLeft() {
    guard retiring.isEmpty, let onEnd else { return }
    self.onEnd = nil
    onEnd()
  }

  /// The commands of all handlers, those that they registered among them.
  public var commands: [Command] {
    handlers.flatMap { handler in handler.commands.map { command($0, of: handler.description) } }
  }

  /// For each handler that listens: to whom.
  public var listeners: [Listener] {
    handlers.filter { $0.description.events.contains(.message) }.map(\.description.listener)
  }

  /// Somebody wrote what is no command. `isHeard`: whether this listener is told.
  public func heard(_ message: ChatMessage, by isHeard: @LoopActor (Listener) -> Bool) {
    for handler in handlers
    where handler.description.events.contains(.message) && isHeard(handler.description.listener) {
      handler.heard(message)
    }
  }

  /// Whether there is one who wants to know of presences.
  public var watchesPresence: Bool { handlers.contains { $0.description.events.contains(.presence) } }

  public func heard(_ presence: ContactPresence, by isHeard: @LoopActor ([AccessRule]) -> Bool) {
    for handler in handlers where handler.description.events.contains(.presence) && isHeard(handler.description.allow) {
      handler.heard(presence)
    }
  }

  /// Whether there is one who wants to know what happens to rooms.
  public var watchesRooms: Bool { handlers.contains { $0.description.events.contains(.room) } }

  /// Something happened to a room. `isHeard`: whether a handler with these rules is told of this occupant; what is the bot's own
  /// part, or nobody's, is told to all that asked.
  public func heard(_ event: RoomEvent, by isHeard: @LoopActor (AccessSubject, [AccessRule]) -> Bool) {
    for handler in handlers where handler.description.events.contains(.room) {
      let subject = event.isOwn ? nil : event.occupant?.subject
      if subject.map({ isHeard($0, handler.description.allow) }) ?? true { handler.heard(event) }
    }
  }

  /// Stops reading what handlers say, so that they wait, or goes on.
  public func setReading(_ reads: Bool) {
    guard reads != self.reads else { return }
    self.reads = reads
    for handler in handlers + retiring { handler.setReading(reads) }
  }

  /// How a handler is doing.
  public struct Status: Sendable, Hashable {
    public let name: String
    public let isRunning: Bool
    /// How often it was started again since the daemon or its section is there.
    public let restarts: Int
    /// How its last process ended; nil: none has.
    public let lastEnd: String?
    /// Until it is started again; nil while it runs.
    public let nextStart: Duration?
    public let commands: [String]
    /// Commands that it has not answered yet.
    public let inFlight: Int
  }

  public var status: [Status] {
    handlers.map {
      Status(
        name: $0.description.name, isRunning: $0.isRunning, restarts: $0.restarts, lastEnd: $0.lastEnd,
        nextStart: $0.nextStart.map { max(.zero, ContinuousClock.now.duration(to: $0)) },
        commands: $0.commands.map(\.name), inFlight: $0.inFlight)
    }
  }

  // MARK: - For its handlers

  /// Ids are never given twice, so that an answer to an earlier run is known as such.
  func nextNumber() -> Int {
    number += 1
    return number
  }

  func command(_ command: CommandDescription, of handler: HandlerDescription) -> Command {
    Command(
      command, HandlerCommand(handlers: self, section: handler.name), origin: handler.origin, timeout: handler.timeout)
  }

  fileprivate func take(_ run: HandlerRun, section: String) {
    guard let handler = handlers.first(where: { $0.description.name == section }) else {
      return run.events.finish(.tryLater)
    }
    handler.take(run)
  }
}

/// A command that a handler serves: whichever process is its section's when the command begins.
private struct HandlerCommand: WaitingCommand {
  let handlers: Handlers
  let section: String

  /// Handlers get the text as it was typed, too.
  var takesText: Bool { true }

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let run = HandlerRun(request, events)
    handlers.take(run, section: section)
    return run
  }
}

/// A command in the hands of a handler.
final class HandlerRun: RunningCommand {
  let request: CommandRequest
  let events: CommandEvents
  /// Set by the handler that has it.
  var cancel: @LoopActor (CommandResult) -> Void = { _ in }

  init(_ request: CommandRequest, _ events: CommandEvents) {
    self.request = request
    self.events = events
  }

  func stop(_ reason: CommandResult) { cancel(reason) }
}

/// What the operator is told of handlers.
public enum HandlerNotice: Sendable, Hashable {
  case started(handler: String)
  /// `next`: the pause before it is started again; nil: it is not.
  case ended(handler: String, how: String, next: Duration?)
  /// What it said for the log, or what was wrong with what it said.
  case said(handler: String, HandlerSeverity, String)
}
