import JID

/// Decides what a message gets. Pure: state, message and time in, decision out; nothing is run here.
///
/// The order: is it for the bot, an echo, within the rate; is its first word a command, may the sender use it, here;
/// are its arguments well-formed. Then a built-in answers, or the command goes to the `Dispatcher`.
public struct Router {
  public var commands: CommandTable
  public var access: AccessPolicy
  /// How the bot is addressed in each room, by the room's bare address; in other rooms it says nothing.
  public var rooms: [JID: RoomAddress] = [:]
  /// A command sent longer ago than this is not run.
  public var maxAge: Duration = .seconds(300)
  /// What built-ins and rules ask the daemon.
  public let facts: BotFacts
  /// Whose messages are heard by handlers when they are no commands.
  public var listeners: [[AccessRule]] = []
  private var limiter: RateLimiter
  private var choices = OpenChoices()
  private var loops = LoopGuard()

  public init(
    commands: CommandTable, access: AccessPolicy, rate: RateLimit? = RateLimit(count: 20, per: .seconds(10)),
    facts: BotFacts
  ) {
    self.commands = commands
    self.access = access
    self.facts = facts
    limiter = RateLimiter(rate)
  }

  /// Commands per sender; nil: unlimited.
  public var rate: RateLimit? {
    get { limiter.limit }
    set { limiter.limit = newValue }
  }

  public mutating func decide(_ message: ChatMessage, now: ContinuousClock.Instant) -> Decision {
    guard let said = said(in: message) else { return .ignore(.notAddressed) }
    guard var (word, text) = Self.firstWord(said) else { return .ignore(.empty) }
    let speaker = message.speaker
    if loops.isEcho(said, from: speaker) { return .ignore(.echo) }
    switch limiter.admit(speaker, now: now) {
    case .admitted: break
    case .warn: return answer(.tooMany, nil, Answers.tooMany, message, now)
    case .refused: return .ignore(.tooMany)
    }
    let choice = choices.take(said, from: speaker, in: message.room, now: now)
    if let choice { (word, text) = (choice.command, choice.chosen.text[...]) }
    guard let command = commands[word] else { return unknown(word, message, now) }
    loops.known(from: speaker)
    let name = command.description.name
    guard access.allows(message.sender, command.description.allow, inRoster: facts.inRoster) else {
      return answer(.denied, name, Answers.denied(name), message, now)
    }
    guard command.description.places.contains(message.place) else {
      return answer(.misplaced, name, Answers.misplaced(name, here: message.place), message, now)
    }
    if message.age > maxAge {
      guard message.room == nil else { return .ignore(.stale) }
      return answer(.stale, name, Answers.stale(name), message, now)
    }
    switch command.action {
    case .immediate(let handler):
      let request = CommandRequest(
        message: message, command: name, arguments: Arguments.words(text), text: String(text))
      let context = AnswerContext(message: message, commands: commands, access: access, facts: facts)
      return answer(.builtin, name, handler.answer(request, context), message, now)
    case .waiting(let action):
      do {
        let arguments =
          if let choice { [choice.chosen.text] } else { try Arguments.split(text, asText: action.takesText) }
        var request = CommandRequest(message: message, command: name, arguments: arguments, text: String(text))
        request.choice = choice?.chosen
        return .run(
          PendingCommand(request: request, description: command.description, timeout: command.timeout, action: action))
      } catch {
        return answer(.badArguments, name, Answers.unclosed(error.quote), message, now)
      }
    }
  }

  /// The command of a message that was accepted before and whose process ended in its midst; nil when it may not run
  /// again.
  public func again(_ message: ChatMessage, command name: String) -> PendingCommand? {
    guard let command = commands[name], command.description.reruns, message.age <= maxAge,
      access.allows(message.sender, command.description.allow, inRoster: facts.inRoster),
      case .waiting(let action) = command.action, let said = said(in: message),
      let (_, text) = Self.firstWord(said), let arguments = try? Arguments.split(text, asText: action.takesText)
    else { return nil }
    let request = CommandRequest(
      message: message, command: command.description.name, arguments: arguments, text: String(text))
    return PendingCommand(
      request: request, description: command.description, timeout: command.timeout, action: action)
  }

  /// What the sender of a command is told that was cut short.
  public static func interrupted(_ name: String) -> String { Answers.cutShort(name) }

  /// Remembers what a command that ran told the sender of `message`, so that its echo is known.
  public mutating func replied(_ text: String, to message: ChatMessage, now: ContinuousClock.Instant) {
    loops.answered(text, to: message.speaker, now: now)
  }

  /// The command `name` asks the sender of `message` to choose.
  public mutating func offered(
    _ options: [String], asked: String, by name: String, to message: ChatMessage, now: ContinuousClock.Instant
  ) {
    choices.offer(options, asked: asked, by: name, to: message.speaker, in: message.room, now: now)
  }

  private func isHeard(_ message: ChatMessage) -> Bool {
    listeners.contains { access.allows(message.sender, $0, inRoster: facts.inRoster) }
  }

  private mutating func unknown(_ word: String, _ message: ChatMessage, _ now: ContinuousClock.Instant) -> Decision {
    if message.age > maxAge { return .ignore(.stale) }
    if message.room == nil, isHeard(message) { return .heard(message) }
    guard let more = loops.unknown(from: message.speaker, now: now) else { return .ignore(.unknownAgain) }
    let context = AnswerContext(message: message, commands: commands, access: access, facts: facts)
    let nearest = Suggestion.nearest(to: word, among: context.usableCommands.map(\.name))
    return answer(.unknown, nil, Answers.unknown(word, nearest: nearest, more: more), message, now)
  }

  private mutating func answer(
    _ kind: Answer.Kind, _ command: String?, _ text: String, _ message: ChatMessage, _ now: ContinuousClock.Instant
  ) -> Decision {
    loops.answered(text, to: message.speaker, now: now)
    return .answer(Answer(kind: kind, command: command, text: text))
  }

  private func said(in message: ChatMessage) -> Substring? {
    guard let room = message.room else { return message.body[...] }
    return rooms[room]?.command(in: message.body)
  }

  /// The first word in lower case, since phones begin a message with a capital, and what follows it as typed.
  private static func firstWord(_ text: Substring) -> (word: String, rest: Substring)? {
    let scalars = text.unicodeScalars
    guard let start = scalars.firstIndex(where: { !$0.isWhiteSpace }) else { return nil }
    let end = scalars[start...].firstIndex { $0.isWhiteSpace } ?? scalars.endIndex
    let rest = scalars[end...].firstIndex { !$0.isWhiteSpace } ?? scalars.endIndex
    return (text[start..<end].lowercased(), text[rest...])
  }
}
