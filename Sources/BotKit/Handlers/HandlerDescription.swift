import EventLoop

/// A long-running program that speaks JSON lines, as its `[handler NAME]` section says.
public struct HandlerDescription: Sendable, Hashable {
  /// What it is told beside the commands that it serves.
  public enum Event: String, Sendable, Hashable, CaseIterable {
    /// Its commands; they come whether this is listed or not.
    case command
    /// What is said that is no command: in chats, in rooms, as its `where` has it.
    case message
    /// Contacts and occupants come and go.
    case presence
    /// What happens to rooms: who enters and leaves, the subject, the bot's own part.
    case room
  }

  /// The section's name.
  public var name: String
  /// The program's absolute path and its arguments.
  public let words: [String]
  public var events: Set<Event>
  /// The commands that it serves from the start; it may register more.
  public var commands: [String]
  /// What `help` says of commands that it does not describe itself.
  public var summary: String
  /// Who may use its commands, and whose messages and presence it is told.
  public var allow: [AccessRule]
  /// Where its commands are heard.
  public var places: Places
  /// To whom it may send unasked.
  public var send: [AccessRule]
  /// How long its commands may take; nil: the dispatcher's limit.
  public var timeout: Duration?
  /// Where it runs, besides what the launcher is: another place is another handler.
  public var place: String?
  public var resources = ResourceLimits()
  /// Its files as they are: a reload starts a handler anew whose program has changed.
  private let stamp: ProgramStamp

  public init(
    name: String, words: [String], events: Set<Event> = [.command], commands: [String] = [], summary: String = "",
    allow: [AccessRule] = AccessRule.admins, places: Places = .chat, send: [AccessRule] = [.none],
    timeout: Duration? = nil
  ) {
    self.name = name
    self.words = words
    self.events = events
    self.commands = commands
    self.summary = summary
    self.allow = allow
    self.places = places
    self.send = send
    self.timeout = timeout
    stamp = ProgramStamp(of: words)
  }

  /// To what is no command it listens as to its commands.
  public var listener: Listener { Listener(allow: allow, places: places) }

  var origin: String { "[handler \(name)]" }

  /// The folder that it has for itself: no command has one of that name.
  var folder: String { name + ".handler" }
}

/// How patient the daemon is with handlers.
public struct HandlerLimits: Sendable, Hashable {
  /// Bytes of a line that is read; a longer one is dropped.
  public var line = 1_048_576
  /// Bytes that may wait for the handler to read them; then commands are refused and events dropped.
  public var backlog = 262_144
  /// The answer to a ping has to come within this time.
  public var pong = Duration.seconds(10)
  /// How long a command waits for a handler that is being restarted.
  public var hold = Duration.seconds(5)
  /// How long a handler that is to end has for the commands that it runs.
  public var shutdown = Duration.seconds(10)
  /// Between TERM and KILL.
  public var killGrace = Duration.seconds(2)
  /// The first pause before a restart; it doubles up to the longest.
  public var firstRestart = Duration.seconds(1)
  public var longestRestart = Duration.seconds(60)

  public init() {}
}

/// How much a handler's word to the operator matters.
public enum HandlerSeverity: String, Sendable, Hashable, CaseIterable {
  case error, warning, info, debug
}
