import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Systemd
import XML
import XMPPClient
import XMPPStanzas

/// The way of a message: decide what it gets (pure), commit it to the archive, then act.
///
/// A text known at once is committed in the same transaction as the message that asked for it, so that one commit stands
/// between question and answer; what has to wait for a program is committed when it comes.
@LoopActor
final class MessageFlow {
  private let gate: ArchiveGate
  private let log: Logger
  private let account: JID
  private unowned let session: Session
  private let wallClock: @LoopActor () -> Int64
  private var repetitions = Repetitions()
  private var dispatcher: Dispatcher?
  private var received: Int64 = 0
  private let archivedBefore: Int64
  let outbox: Outbox
  var router: Router
  /// Keep the XML of each message.
  var keepsRawXML = false

  /// `archived`, `queued`: messages in the archive, and those of them that wait to be sent.
  init(
    session: Session, gate: ArchiveGate, router: Router, archived: Int64, queued: Int, log: Logger,
    wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.session = session
    self.gate = gate
    self.router = router
    self.log = log
    self.wallClock = wallClock
    archivedBefore = archived
    account = session.options.account
    outbox = Outbox(session: session, gate: gate, queued: queued, log: log, wallClock: wallClock)
  }

  /// The dispatcher's hooks lead here.
  func attach(_ dispatcher: Dispatcher) {
    self.dispatcher = dispatcher
  }

  /// Messages in the archive.
  var archived: Int64 { archivedBefore + received + outbox.accepted }

  func hooks() -> Dispatcher.Hooks {
    var hooks = Dispatcher.Hooks()
    hooks.onStarted = { [weak self] command in self?.show(.composing, to: command.request.message) }
    hooks.onReply = { [weak self] command, text in self?.reply(text, to: command.request.message) }
    hooks.onFinished = { [weak self] command, outcome in self?.finished(command, outcome) }
    hooks.onLog = { [log] command, line in
      log.log(.handlerOutput, line, peer: command.request.message.sender.description, command: command.request.command)
    }
    return hooks
  }

  // MARK: - In

  func receive(_ message: Message, as element: Element) {
    guard let from = message.from, message.isWorthKeeping else { return }
    let time = wallClock()
    let row = message.row(from: from, time: time, raw: keepsRawXML ? element.xml : nil)
    let decision = decide(message, from: from, time: time)
    var answer: [NewMessage] = []
    if case .answer(let text)? = decision { answer = outbox.rows(text.text, to: from, thread: message.thread) }
    commit(row, answer, bounced: message.kind == .error ? message.id : nil) { [weak self] in
      guard let self else { return }
      log.log(
        .messageReceived, at: .debug, "message from \(from)", peer: from.bare.description, stanzaID: message.id)
      act(decision, answer, to: from)
    }
  }

  private func decide(_ message: Message, from: JID, time: Int64) -> Decision? {
    guard let chat = message.chat(from: from, account: account, time: time) else { return nil }
    if let id = message.id, repetitions.isRepeated(id, chat.body, from: from) { return nil }
    return router.decide(chat, now: .now)
  }

  private enum Committed {
    case new, duplicate
    /// The error that came back for a message of ours.
    case bounce
  }

  /// Commits all rows in one transaction; `done` is called unless the message was in the archive already. `bounced`: the
  /// id of our message that came back as an error.
  private func commit(
    _ row: NewMessage, _ answer: [NewMessage], bounced: String?, done: @escaping @LoopActor () -> Void
  ) {
    let bytes =
      512 + (row.body?.utf8.count ?? 0) + (row.rawXML?.utf8.count ?? 0)
      + answer.reduce(0) { $0 + 512 + ($1.body?.utf8.count ?? 0) }
    gate.write(bytes: bytes) { transaction throws(DatabaseError) -> Committed in
      guard case .inserted = try transaction.insert(row) else { return .duplicate }
      for row in answer { try transaction.insert(row) }
      guard let bounced else { return .new }
      return try transaction.fail(messageID: bounced, peer: row.peer, error: row.error ?? "error") ? .bounce : .new
    } done: { [weak self, log] result in
      if result == .duplicate { return }
      self?.received += 1
      if result == .bounce {
        log.log(
          .messageSent, at: .warning, "a message to \(row.peer) came back: \(row.error ?? "")", peer: row.peer,
          stanzaID: bounced)
      }
      done()
    }
  }

  private func act(_ decision: Decision?, _ answer: [NewMessage], to recipient: JID) {
    switch decision {
    case .answer(let text):
      outbox.committed(answer, to: recipient)
      report(text, to: recipient)
    case .run(let command): dispatcher?.start(command)
    case .ignore(let reason):
      if reason == .tooMany || reason == .stale {
        log.log(
          reason == .tooMany ? .rateLimited : .messageReceived, at: .debug, "no answer: \(reason.rawValue)",
          peer: recipient.bare.description)
      }
    case nil: break
    }
  }

  private func report(_ answer: Answer, to recipient: JID) {
    let peer = recipient.bare.description
    switch answer.kind {
    case .denied:
      log.log(.commandDenied, "\(peer) may not use \(answer.command ?? "")", peer: peer, command: answer.command)
    case .tooMany: log.log(.rateLimited, "\(peer) sends too many commands", peer: peer)
    default: log.log(.commandRun, at: .debug, "answered \(peer)", peer: peer, command: answer.command)
    }
  }

  // MARK: - Commands

  private func reply(_ text: String, to message: ChatMessage) {
    guard let recipient = recipient(of: message) else { return }
    router.replied(text, to: message, now: .now)
    outbox.send(text, to: recipient, thread: message.thread)
  }

  private func finished(_ command: PendingCommand, _ outcome: CommandOutcome) {
    let message = command.request.message
    if let text = outcome.text {
      reply(text, to: message)
    } else {
      show(.active, to: message)
    }
    let name = command.request.command
    let (event, words): (LogEvent, String) =
      outcome.result == .done ? (.commandRun, "ran") : (.commandFailed, "failed: \(outcome.result)")
    log.log(
      event, "command \(name) \(words)", peer: message.sender.description, command: name, stanzaID: message.messageID,
      duration: outcome.duration)
  }

  private func show(_ state: ChatState, to message: ChatMessage) {
    guard message.room == nil, let recipient = recipient(of: message) else { return }
    var notice = Message(.chat, to: recipient, id: session.newID())
    notice.chatState = state
    session.send(notice.element)
  }

  private func recipient(of message: ChatMessage) -> JID? {
    message.room ?? message.resource.map { try? message.sender.with(receivedResource: $0) } ?? message.sender
  }
}
