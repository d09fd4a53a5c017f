import EventLoop

/// A command as the bot offers it.
public struct Command: Sendable {
  public let description: CommandDescription
  /// Where it comes from, for messages to the operator: a file, a section, "built in".
  public let origin: String
  /// Where it is said who may use it, when that is not `origin` itself: a file, a line, "the default".
  public let allowOrigin: String?
  /// How long it may run; nil: the configured limit.
  public let timeout: Duration?
  let action: Action

  enum Action: Sendable {
    case immediate(any ImmediateHandler)
    case waiting(any WaitingCommand)
  }

  /// A command answered on the spot.
  public init(_ handler: some ImmediateHandler, origin: String = "built in") {
    description = handler.description
    self.origin = origin
    allowOrigin = nil
    timeout = nil
    action = .immediate(handler)
  }

  /// A command written in Swift.
  public init(_ handler: some CommandHandler, origin: String = "Swift handler", timeout: Duration? = nil) {
    self.init(handler.description, SwiftCommand(handler: handler), origin: origin, timeout: timeout)
  }

  /// A command that works on the loop.
  public init(
    _ description: CommandDescription, _ action: some WaitingCommand, origin: String, allowOrigin: String? = nil,
    timeout: Duration? = nil
  ) {
    self.description = description
    self.origin = origin
    self.allowOrigin = allowOrigin
    self.timeout = timeout
    self.action = .waiting(action)
  }
}

/// A command that answers at once from what is known: pure and quick, since it runs before the message is archived.
public protocol ImmediateHandler: Sendable {
  var description: CommandDescription { get }
  func answer(_ request: CommandRequest, _ context: AnswerContext) -> String
}

/// A command that waits. It starts on the loop and must not block it.
public protocol WaitingCommand: Sendable {
  /// Takes text rather than arguments: a quote without a partner is an apostrophe. False unless said otherwise.
  var takesText: Bool { get }

  /// Begins. All that happens is told to `events`, and `finish` exactly once; that may be before this returns.
  @LoopActor func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand
}

extension WaitingCommand {
  public var takesText: Bool { false }
}

/// A command that has begun.
@LoopActor
public protocol RunningCommand: AnyObject {
  /// Ends it early. `finish` is told soon after, with `reason` as the result. Harmless when it has ended.
  func stop(_ reason: CommandResult)
}

/// How a command ended.
public enum CommandResult: Sendable, Hashable {
  case done
  /// The arguments were wrong: its usage is shown (a program's exit 64).
  case usage
  /// Exit 75.
  case tryLater
  /// Exit 77.
  case notAllowed
  /// A program's other exit code.
  case exited(Int32)
  /// Something else, in a few words that a contact may read.
  case failed(String)
  case timedOut(Duration)
  /// It printed more than this many bytes and was stopped.
  case outputLimit(Int)
  /// The daemon is ending.
  case interrupted
  /// It was never started: too many were running and waiting.
  case busy
}

extension CommandResult: CustomStringConvertible {
  /// For the log.
  public var description: String {
    switch self {
    case .done: "done"
    case .usage: "wrong arguments, its usage was shown"
    case .tryLater: "try again later"
    case .notAllowed: "not allowed"
    case .exited(let code): "exit \(code)"
    case .failed(let reason): reason
    case .timedOut(let limit): "it took longer than \(Units.text(limit))"
    case .outputLimit(let bytes): "it wrote more than \(Units.text(bytes: bytes))"
    case .interrupted: "interrupted"
    case .busy: "busy"
    }
  }
}
