/// What is to be done about a message, known the moment it arrives. The message's row is committed to the archive before
/// any of it is done.
public enum Decision: Sendable {
  case ignore(Reason)
  case answer(Answer)
  case run(PendingCommand)
  /// No command, but there are handlers that listen to its sender.
  case heard(ChatMessage)

  /// Why a message gets no answer; for the log.
  public enum Reason: String, Sendable, Hashable {
    case empty = "empty"
    case notAddressed = "not addressed to the bot"
    case unknownHere = "no command of this bot"
    case echo = "an echo of the last answer"
    case tooMany = "over the rate limit"
    case roomTooMany = "over the room's rate limit"
    case reflex = "answers of another bot"
    case automaton = "from a bot, and no command"
    case correction = "a correction"
    case encrypted = "encrypted, and its sender was told"
    case unknownAgain = "unknown commands, one after the other"
    case stale = "older than max-age"
  }
}

/// A text known without waiting.
public struct Answer: Sendable, Hashable {
  /// What kind of answer it is; `denied` deserves a line in the log.
  public enum Kind: String, Sendable, Hashable {
    case builtin, unknown, denied, misplaced, badArguments, tooMany, reflex, stale, corrected, encrypted, closed
  }

  public let kind: Kind
  /// The command in question, where there is one.
  public let command: String?
  public let text: String
}

/// A command that was allowed and must wait for something: a program, the database, a Swift handler.
public struct PendingCommand: Sendable {
  public let request: CommandRequest
  public let description: CommandDescription
  /// nil: the dispatcher's own.
  public let timeout: Duration?
  let action: any WaitingCommand
  /// The daemon's own number for it (its ledger row); not looked at here.
  public var id: Int64 = 0
}

extension Decision {
  /// The sender hears nothing of it.
  public var isSilent: Bool { if case .ignore = self { true } else { false } }
}
