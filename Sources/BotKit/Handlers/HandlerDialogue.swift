import EventLoop
import JSON

/// The talk with one run of a handler: pure, lines and events in, actions out. It ends with the process; another run is
/// another talk.
struct HandlerDialogue {
  enum Action: Hashable {
    /// A line for the handler, with its line break.
    case write([UInt8])
    /// What a command that runs does for its contact.
    case perform(Int, CommandAction)
    /// A command ended; the last text for its contact.
    case finish(Int, CommandResult, String?)
    /// Something for the sender of a message, outside of a command.
    case answer(ChatMessage, CommandAction)
    /// A message to somebody, as far as that is allowed.
    case send(to: String, text: String)
    case register(command: String, description: String?, usage: String?)
    case log(HandlerSeverity, String)
  }

  private struct Open {
    let request: CommandRequest
    /// It has said something to its contact.
    var hasSpoken = false
  }

  /// A message that may still be answered, or reacted to, when no command of it runs.
  private struct Known {
    let message: ChatMessage
    let isEvent: Bool
  }

  private static let remembered = 256
  private static let mostStrangeTypes = 20

  private let handler: HandlerDescription
  private let limits: HandlerLimits
  /// Bytes of one text for a contact.
  var output = 65_536
  private var open: [Int: Open] = [:]
  private var known: [Int: Known] = [:]
  private var order: [Int] = []
  /// Bytes that were written and not yet read.
  private(set) var backlog = 0
  private var dropped = 0
  private var saysThatItDrops = false
  private var pings = 0
  /// Until then the handler has to say something, or it hangs.
  private(set) var pongDue: ContinuousClock.Instant?
  private var budget = LogBudget()
  /// Of what it is told of its own lines: one that repeats what it reads would never end.
  private var told = LogBudget(lines: 10)
  /// Types that are not known, each of which is said once.
  private var strangeTypes: Set<String> = []

  init(_ handler: HandlerDescription, limits: HandlerLimits) {
    self.handler = handler
    self.limits = limits
  }

  /// Commands that it has not answered yet.
  var unanswered: [Int] { open.keys.sorted() }

  // MARK: - To the handler

  mutating func begin(jid: String, commands: [String]) -> [Action] {
    [write(HandlerEvents.hello(handler, jid: jid, commands: commands))]
  }

  mutating func command(_ number: Int, _ request: CommandRequest) -> [Action] {
    if backlog >= limits.backlog { return [.finish(number, .busy, nil)] + notice() }
    open[number] = Open(request: request)
    return [write(HandlerEvents.command(String(number), request))]
  }

  /// Its contact waits no longer. One that overran its time may hang, and is asked whether it does.
  mutating func cancel(_ number: Int, _ reason: CommandResult, now: ContinuousClock.Instant) -> [Action] {
    guard let command = open.removeValue(forKey: number) else { return [] }
    remember(number, command.request.message, isEvent: false)
    var actions = [write(HandlerEvents.cancel(String(number), reason))]
    if case .timedOut = reason, pongDue == nil {
      pings += 1
      pongDue = now + limits.pong
      actions.append(write(HandlerEvents.ping(pings)))
    }
    return actions
  }

  mutating func message(_ number: Int, _ message: ChatMessage) -> [Action] {
    guard hasRoom() else { return notice() }
    remember(number, message, isEvent: true)
    return [write(HandlerEvents.message(String(number), message))]
  }

  mutating func presence(_ presence: ContactPresence) -> [Action] {
    guard hasRoom() else { return notice() }
    return [write(HandlerEvents.presence(presence))]
  }

  mutating func room(_ event: RoomEvent) -> [Action] {
    guard hasRoom() else { return notice() }
    return [write(HandlerEvents.room(event))]
  }

  mutating func shutdown(within deadline: Duration) -> [Action] { [write(HandlerEvents.shutdown(deadline))] }

  /// It has read so many bytes more.
  mutating func read(_ bytes: Int) -> [Action] {
    backlog -= bytes
    guard saysThatItDrops, backlog < limits.backlog / 2 else { return [] }
    defer { (saysThatItDrops, dropped) = (false, 0) }
    return [.log(.warning, "it reads again; \(dropped) events were dropped meanwhile")]
  }

  /// What the handler says wrong, it is told: its author looks there first, or into the journal.
  mutating func complain(_ text: String, now: ContinuousClock.Instant) -> [Action] {
    var actions: [Action] = budget.admit(text, now: now).map { .log(.warning, $0) }
    if backlog < limits.backlog {
      for text in told.admit(text, now: now) { actions.append(write(HandlerEvents.error(text))) }
    }
    return actions
  }

  private mutating func write(_ line: JSON) -> Action {
    let bytes = line.utf8() + [0x0a]
    backlog += bytes.count
    return .write(bytes)
  }

  /// Events have half of the backlog: however many come, commands have the rest.
  private mutating func hasRoom() -> Bool {
    if backlog < limits.backlog / 2 { return true }
    dropped += 1
    return false
  }

  /// That it does not read is said once, until it does.
  private mutating func notice() -> [Action] {
    if saysThatItDrops { return [] }
    saysThatItDrops = true
    return [
      .log(
        .warning,
        "it does not read: \(backlog) bytes wait; events are dropped, and from \(limits.backlog) bytes on commands are answered busy"
      )
    ]
  }

  // MARK: - From the handler

  mutating func line(_ bytes: [UInt8], now: ContinuousClock.Instant) -> [Action] {
    pongDue = nil
    if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { return [] }
    do throws(HandlerLine.Fault) {
      return try take(HandlerLine(bytes), now: now)
    } catch {
      let excerpt = OutputText.clean(OutputText.whole(bytes.prefix(200)))
      let text = "\(error.text), in the line: \(excerpt)\(bytes.count > 200 ? "…" : "")"
      return complain(text, now: now)
    }
  }

  mutating func lineTooLong(_ bytes: Int, now: ContinuousClock.Instant) -> [Action] {
    pongDue = nil
    let text = "a line of \(bytes) bytes was dropped: a line has \(Units.text(bytes: limits.line)) at most"
    return complain(text, now: now)
  }

  /// A line of its standard error.
  mutating func errorLine(_ text: String, now: ContinuousClock.Instant) -> [Action] {
    budget.admit(text, now: now).map { .log(.info, $0) }
  }

  /// It has not answered a ping in time.
  func isHanging(at now: ContinuousClock.Instant) -> Bool { pongDue.map { $0 <= now } ?? false }

  /// Its lines are not read now, so it can't have answered.
  mutating func putOffPong(now: ContinuousClock.Instant) {
    if pongDue != nil { pongDue = now + limits.pong }
  }

  /// The process has ended: what it did not answer has failed.
  mutating func ended() -> [Action] {
    defer { open = [:] }
    return unanswered.map { .finish($0, .failed("it ended before it had answered"), nil) }
  }

  private mutating func take(_ line: HandlerLine, now: ContinuousClock.Instant) throws(HandlerLine.Fault) -> [Action] {
    switch line {
    case .reply(let reply): return try take(reply, now: now)
    case .edit(let id, let text, let done):
      guard let number = Int(id), open[number] != nil else { return late("edit", id) }
      open[number]?.hasSpoken = true
      return [.perform(number, .edit(cut(text)))] + (done ? finish(number, .done, nil) : [])
    case .react(let id, let emoji, let done):
      guard let number = Int(id) else { return late("react", id) }
      if open[number] != nil { return [.perform(number, .react(emoji))] + (done ? finish(number, .done, nil) : []) }
      return known[number].map { [.answer($0.message, .react(emoji))] } ?? late("react", id)
    case .upload(let id, let path, let name, let caption, let done):
      guard let number = Int(id), open[number] != nil else { return late("upload", id) }
      open[number]?.hasSpoken = true
      let file = CommandUpload(.file(path: path), name: name, caption: caption, folder: handler.folder)
      return [.perform(number, .upload(file))] + (done ? finish(number, .done, nil) : [])
    case .send(let recipient, let text): return [.send(to: recipient, text: cut(text))]
    case .register(let command, let description, let usage):
      return [.register(command: command, description: description, usage: usage)]
    case .log(let severity, let text):
      return budget.admit(text, now: now).map { .log(severity, $0) }
    case .pong: return []
    case .other(let type): return pass(over: type, now: now)
    }
  }

  /// A type that is not known may be of a later version, and does no harm; one that is nearly known is a slip.
  private mutating func pass(over type: String, now: ContinuousClock.Instant) -> [Action] {
    let type = String(type.prefix(64))
    guard strangeTypes.count < Self.mostStrangeTypes, strangeTypes.insert(type).inserted else { return [] }
    let text = "lines of the type \(Answers.quoted(type)), which is not known, are passed over"
    guard let meant = Suggestion.nearest(to: type, among: HandlerLine.types) else { return [.log(.info, text)] }
    return complain(text + "; did you mean \(Answers.quoted(meant))?", now: now)
  }

  private mutating func take(
    _ reply: HandlerLine.Reply, now: ContinuousClock.Instant
  ) throws(HandlerLine.Fault) -> [Action] {
    guard let number = Int(reply.id) else { return late("reply", reply.id) }
    guard let command = open[number] else {
      guard let known = known[number], known.isEvent else { return late("reply", reply.id) }
      if !reply.choices.isEmpty { throw HandlerLine.Fault(text: "only the reply to a command can have choices") }
      guard let text = reply.text, !text.isEmpty else { throw HandlerLine.Fault(text: "\"text\" is missing") }
      return [.answer(known.message, .reply(cut(text)))]
    }
    var text = reply.text.map { cut($0) }
    var actions: [Action] = []
    if !reply.choices.isEmpty {
      let list = reply.choices.enumerated().map { "\($0.offset + 1). \($0.element)" }
      text = cut(([text].compactMap { $0 } + list).joined(separator: "\n"))
      actions.append(.perform(number, .offer(reply.choices, asked: reply.id)))
    }
    guard reply.done ?? true else {
      guard let text, !text.isEmpty else { throw HandlerLine.Fault(text: "\"text\" is missing") }
      open[number]?.hasSpoken = true
      return actions + [.perform(number, .reply(text))]
    }
    switch reply.result {
    case "done":
      let name = command.request.command
      let isSilent = (text ?? "").isEmpty && !command.hasSpoken
      return actions + finish(number, .done, isSilent ? "\(name): done" : text)
    case "usage": return actions + finish(number, .usage, text)
    case "later": return actions + finish(number, .tryLater, text)
    case "denied": return actions + finish(number, .notAllowed, text)
    case "failed":
      let reason = text.flatMap { $0.isEmpty ? nil : $0 }
      return actions + finish(number, .failed(reason ?? "it does not say why"), nil)
    case let other:
      // Ends it all the same, so that nobody waits.
      return actions + finish(number, .done, text)
        + complain("\"result\": \(Answers.quoted(other)) is none of done, failed, usage, later, denied", now: now)
    }
  }

  private mutating func finish(_ number: Int, _ result: CommandResult, _ text: String?) -> [Action] {
    if let command = open.removeValue(forKey: number) { remember(number, command.request.message, isEvent: false) }
    return [.finish(number, result, text)]
  }

  /// Of a command that has ended, or of a message long past: nothing is wrong with that, and nothing comes of it.
  private func late(_ type: String, _ id: String) -> [Action] {
    [.log(.debug, "a line of the type \(type) has the id \(Answers.quoted(id)), of which nothing is open; passed over")]
  }

  private mutating func remember(_ number: Int, _ message: ChatMessage, isEvent: Bool) {
    known[number] = Known(message: message, isEvent: isEvent)
    order.append(number)
    guard order.count > Self.remembered else { return }
    known[order.removeFirst()] = nil
  }

  private func cut(_ text: String) -> String { OutputText.cut(text, to: output) }
}
