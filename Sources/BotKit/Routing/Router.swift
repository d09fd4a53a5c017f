import JID

/// Decides what a message gets. Pure: state, message and time in, decision out; nothing is run here.
///
/// The order: can it be read, is it a correction; is it for the bot, an echo, within the rates; is its first word a
/// command, may the sender use it, here; are its arguments well-formed. Then a built-in answers, or the command goes to
/// the `Dispatcher`.
public struct Router {
  public var commands: CommandTable
  public var access: AccessPolicy
  /// How the bot is addressed in each room, by the room's bare address; in other rooms it says nothing.
  public var rooms: [JID: RoomAddress] = [:]
  /// A command sent longer ago than this is not run.
  public var maxAge: Duration = .seconds(300)
  /// What built-ins and rules ask the daemon.
  public let facts: BotFacts
  /// Whose messages are heard by handlers when they are no commands, and where.
  public var listeners: [Listener] = []
  var limiter: RateLimiter
  var choices = OpenChoices()
  private var roomLimiter: RateLimiter
  private var loops = LoopGuard()
  private var encryptedNotice = EncryptedNotice()

  public init(
    commands: CommandTable, access: AccessPolicy, rate: RateLimit? = RateLimit(count: 20, per: .seconds(10)),
    facts: BotFacts
  ) {
    self.commands = commands
    self.access = access
    self.facts = facts
    limiter = RateLimiter(rate)
    roomLimiter = RateLimiter(nil)
  }

  /// Commands per sender; nil: unlimited.
  public var rate: RateLimit? {
    get { limiter.limit }
    set { limiter.limit = newValue }
  }

  /// Bytes of one answer; more is cut off.
  public var output = 65_536

  /// Commands in each room, of all its occupants together; nil: unlimited.
  public var roomRate: RateLimit? {
    get { roomLimiter.limit }
    set { roomLimiter.limit = newValue }
  }

  public mutating func decide(_ message: ChatMessage, now: ContinuousClock.Instant) -> Decision {
    if message.isEncrypted { return encrypted(message, now) }
    if let corrected = message.corrects { return correction(of: corrected, message, now) }
    guard let (said, isMeant) = said(in: message) else { return overheard(message, .notAddressed, now) }
    guard var (word, text) = Self.firstWord(said) else { return .ignore(.empty) }
    if loops.isEcho(LoopGuard.Fingerprint(said), from: message.speaker) { return .ignore(.echo) }
    // Another bot's commands may begin with the same mark; they don't count either.
    if !isMeant, commands[word] == nil, !choices.isOpen(for: message.speaker, in: message.choiceRoom, now: now) {
      return overheard(message, .unknownHere, now)
    }
    if let decision = limited(said, message, now) { return decision }
    let choice = choices.take(said, from: message.speaker, in: message.choiceRoom, now: now)
    if let choice { (word, text) = (choice.command, choice.chosen.text[...]) }
    guard let command = commands[word] else {
      return isMeant ? unknown(word, message, now) : overheard(message, .unknownHere, now)
    }
    return use(command, text, message, chosen: choice?.chosen, now)
  }

  /// The sender uses a command.
  mutating func use(
    _ command: Command, _ text: Substring, _ message: ChatMessage, chosen: CommandRequest.Choice? = nil,
    _ now: ContinuousClock.Instant
  ) -> Decision {
    let speaker = message.speaker
    loops.known(from: speaker)
    let decision = judge(command, text, message, chosen: chosen)
    if case .answer(let answer) = decision {
      loops.answered(answer.text, to: speaker, now: now)
      if answer.kind != .builtin { loops.mistaken(message.messageID, by: speaker) }
    }
    return decision
  }

  /// What becomes of a message whatever it says; nil: its words count.
  mutating func limited(
    _ said: Substring, _ message: ChatMessage, _ now: ContinuousClock.Instant
  ) -> Decision? {
    let speaker = message.speaker
    switch limiter.admit(speaker, now: now) {
    case .admitted: break
    case .warn: return answer(.tooMany, nil, Answers.tooMany, message, now)
    case .refused: return .ignore(.tooMany)
    }
    if let room = message.room {
      switch roomLimiter.admit(Speaker(address: room, occupant: share(of: message)), now: now) {
      case .admitted: break
      case .warn: return answer(.tooMany, nil, Answers.roomTooMany, message, now)
      case .refused: return .ignore(.roomTooMany)
      }
    }
    // Who lifts the limit wants quick senders.
    guard limiter.limit != nil else { return nil }
    switch loops.reflex(LoopGuard.Fingerprint(said), from: speaker, now: now) {
    case .no: return nil
    case .tell: return answer(.reflex, nil, Answers.reflex, message, now)
    case .again: return .ignore(.reflex)
    }
  }

  /// Who has a limit of their own in a room. What is said in private is told there, and the room has its own warning; the others can
  /// use up all that a room may have, but not what administrators have.
  private func share(of message: ChatMessage) -> String? {
    if message.isPrivate { return "" }
    return message.address.map(access.isAdmin) == true ? "@" + AccessPolicy.adminGroup : nil
  }

  /// What a command gets: rights, place, age and arguments. Remembers nothing.
  func judge(
    _ command: Command, _ text: Substring, _ message: ChatMessage, chosen: CommandRequest.Choice? = nil
  ) -> Decision {
    let name = command.description.name
    func answer(_ kind: Answer.Kind, _ text: String) -> Decision {
      .answer(Answer(kind: kind, command: name, text: text))
    }
    switch access.permission(of: message, for: command.description, inRoster: facts.inRoster) {
    case .granted: break
    case .misplaced: return answer(.misplaced, Answers.misplaced(name, here: message.place))
    case .denied: return answer(.denied, Answers.denied(name))
    }
    if message.age > maxAge {
      return message.place == .chat ? answer(.stale, Answers.stale(name)) : .ignore(.stale)
    }
    switch command.action {
    case .immediate(let handler):
      let request = CommandRequest(
        message: message, command: name, arguments: Arguments.words(text), text: String(text))
      return answer(.builtin, OutputText.cut(handler.answer(request, context(of: message)), to: output))
    case .waiting(let action):
      do {
        let arguments =
          if let chosen { [chosen.text] } else { try Arguments.split(text, asText: action.takesText) }
        var request = CommandRequest(message: message, command: name, arguments: arguments, text: String(text))
        request.choice = chosen
        return .run(
          PendingCommand(request: request, description: command.description, timeout: command.timeout, action: action))
      } catch {
        return answer(.badArguments, Answers.unclosed(error.quote))
      }
    }
  }

  /// The command of a message that was accepted before and whose process ended in its midst; nil when it may not run
  /// again. Nor does one that was chosen as the answer to a question, which only the earlier process knew; nor one of a room,
  /// which alone knows who it was.
  public func again(_ message: ChatMessage, command name: String) -> PendingCommand? {
    guard message.room == nil, let command = commands[name], command.description.reruns, message.age <= maxAge,
      access.permission(of: message, for: command.description, inRoster: facts.inRoster).isGranted,
      case .waiting(let action) = command.action, let (word, text) = Self.firstWord(message.body[...]), word == name,
      let arguments = try? Arguments.split(text, asText: action.takesText)
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
    choices.offer(options, asked: asked, by: name, to: message.speaker, in: message.choiceRoom, now: now)
  }

  private func isHeard(_ message: ChatMessage) -> Bool {
    listeners.contains { $0.hears(message, access, inRoster: facts.inRoster) }
  }

  /// What was said in a room and not to the bot, or not to this one.
  private mutating func overheard(
    _ message: ChatMessage, _ reason: Decision.Reason, _ now: ContinuousClock.Instant
  ) -> Decision {
    guard isHeard(message) else { return .ignore(reason) }
    // A handler that answers all may have met another such.
    let text = LoopGuard.Fingerprint(message.body[...])
    let isReflex = limiter.limit != nil && loops.reflex(text, from: message.speaker, now: now) != .no
    return isReflex ? .ignore(.reflex) : .heard(message)
  }

  /// The sender of `message` says of itself that it is a bot: what is no command is not answered.
  public mutating func isAutomaton(_ message: ChatMessage, now: ContinuousClock.Instant) {
    loops.isAutomaton(message.speaker, now: now)
  }

  /// Whether it is worth asking what the sender is: it has just sent the second unknown command in a row.
  public func isDoubtful(_ message: ChatMessage) -> Bool { loops.isDoubtful(message.speaker) }

  /// What the sender of an encrypted message is told.
  public static var encryptedText: String { EncryptedNotice.text }

  /// An earlier process has told this contact that encrypted messages can't be read.
  public mutating func wasToldOfEncryption(_ contact: JID, now: ContinuousClock.Instant) {
    _ = encryptedNotice.isDue(Speaker(address: contact.bare, occupant: nil), now: now)
  }

  private mutating func unknown(_ word: String, _ message: ChatMessage, _ now: ContinuousClock.Instant) -> Decision {
    if message.age > maxAge { return .ignore(.stale) }
    if loops.isAutomaton(message.speaker) { return .ignore(.automaton) }
    if isHeard(message) { return .heard(message) }
    guard let more = loops.unknown(from: message.speaker, now: now) else { return .ignore(.unknownAgain) }
    defer { loops.mistaken(message.messageID, by: message.speaker) }
    return answer(
      .unknown, nil, Answers.unknown(word, nearest: nearest(to: word, for: message), more: more), message, now)
  }

  /// The nearest command that the sender may use here.
  func nearest(to word: String, for message: ChatMessage) -> String? {
    Suggestion.nearest(to: word, among: context(of: message).usableCommands.map(\.name))
  }

  private func context(of message: ChatMessage) -> AnswerContext {
    AnswerContext(message: message, commands: commands, access: access, facts: facts)
  }

  /// A correction is never run. Who corrects what was no command is told so, since they wait for an answer.
  private mutating func correction(
    of id: String, _ message: ChatMessage, _ now: ContinuousClock.Instant
  ) -> Decision {
    guard message.place == .chat, message.age <= maxAge, let (word, _) = Self.firstWord(message.body[...]),
      let command = commands[word],
      access.permission(of: message, for: command.description, inRoster: facts.inRoster).isGranted,
      loops.takeMistake(id, of: message.speaker)
    else { return .ignore(.correction) }
    return answer(.corrected, command.description.name, Answers.corrected, message, now)
  }

  private mutating func encrypted(_ message: ChatMessage, _ now: ContinuousClock.Instant) -> Decision {
    guard message.place == .chat, encryptedNotice.isDue(message.speaker, now: now) else { return .ignore(.encrypted) }
    return answer(.encrypted, nil, EncryptedNotice.text, message, now)
  }

  mutating func answer(
    _ kind: Answer.Kind, _ command: String?, _ text: String, _ message: ChatMessage, _ now: ContinuousClock.Instant
  ) -> Decision {
    loops.answered(text, to: message.speaker, now: now)
    return .answer(Answer(kind: kind, command: command, text: text))
  }

  /// What is said to the bot, and whether to this one and no other.
  private func said(in message: ChatMessage) -> (Substring, isMeant: Bool)? {
    guard message.place == .room, let room = message.room else { return (message.body[...], true) }
    return rooms[room]?.speech(in: message.body).map { ($0.text, $0.isByNick) }
  }

  /// The first word in lower case, since phones begin a message with a capital, and what follows it as typed.
  static func firstWord(_ text: Substring) -> (word: String, rest: Substring)? {
    let scalars = text.unicodeScalars
    guard let start = scalars.firstIndex(where: { !$0.isWhiteSpace }) else { return nil }
    let end = scalars[start...].firstIndex { $0.isWhiteSpace } ?? scalars.endIndex
    let rest = scalars[end...].firstIndex { !$0.isWhiteSpace } ?? scalars.endIndex
    return (text[start..<end].lowercased(), text[rest...])
  }
}
