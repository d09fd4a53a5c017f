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
  var router: Router
  /// Keep the XML of each message.
  var keepsRawXML: Bool
  /// Messages in the archive.
  private(set) var archived: Int64

  init(
    session: Session, gate: ArchiveGate, router: Router, keepsRawXML: Bool, archived: Int64, log: Logger,
    wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.session = session
    self.gate = gate
    self.router = router
    self.keepsRawXML = keepsRawXML
    self.archived = archived
    self.log = log
    self.wallClock = wallClock
    account = session.options.account
  }

  /// The dispatcher's hooks lead here.
  func attach(_ dispatcher: Dispatcher) {
    self.dispatcher = dispatcher
  }

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
    var answer: NewMessage?
    if case .answer(let text)? = decision { answer = outgoing(text.text, to: from, kind: message.kind, time: time) }
    answer?.thread = message.thread
    commit(Exchange(sender: from, row: row, decision: decision, answer: answer))
  }

  /// A message, what it gets, and the rows that are committed together. An object, since rows are large and the archive's
  /// thread, the loop and what waits between them look at the same ones.
  private final class Exchange: Sendable {
    let sender: JID
    let row: NewMessage
    let decision: Decision?
    let answer: NewMessage?

    init(sender: JID, row: NewMessage, decision: Decision?, answer: NewMessage?) {
      self.sender = sender
      self.row = row
      self.decision = decision
      self.answer = answer
    }
  }

  private func decide(_ message: Message, from: JID, time: Int64) -> Decision? {
    guard let chat = message.chat(from: from, account: account, time: time) else { return nil }
    if let id = message.id, repetitions.isRepeated(id, from: from) { return nil }
    return router.decide(chat, now: .now)
  }

  /// Commits both rows in one transaction, then acts, unless the message was in the archive already.
  private func commit(_ exchange: Exchange) {
    let row = exchange.row
    let bytes =
      512 + (row.body?.utf8.count ?? 0) + (row.rawXML?.utf8.count ?? 0) + (exchange.answer?.body?.utf8.count ?? 0)
    gate.write(bytes: bytes) { transaction throws(DatabaseError) -> Bool in
      guard case .inserted = try transaction.insert(exchange.row) else { return false }
      if let answer = exchange.answer { try transaction.insert(answer) }
      return true
    } done: { [weak self] isNew in
      guard isNew, let self else { return }
      archived += exchange.answer == nil ? 1 : 2
      act(exchange)
    }
  }

  private func act(_ exchange: Exchange) {
    let sender = exchange.sender
    log.log(
      .messageReceived, at: .debug, "message from \(sender)", peer: sender.bare.description,
      stanzaID: exchange.row.messageID)
    switch exchange.decision {
    case .answer(let text):
      if let answer = exchange.answer { transmit(answer, to: sender) }
      report(text, to: sender)
    case .run(let command): dispatcher?.start(command)
    case .ignore(let reason):
      if reason == .tooMany || reason == .stale {
        log.log(
          reason == .tooMany ? .rateLimited : .messageReceived, at: .debug, "no answer: \(reason.rawValue)",
          peer: sender.bare.description)
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

  // MARK: - Out

  /// Sends `text`: archives it, hands it to the server, and then calls `done` with whether the server could be reached.
  func send(
    _ text: String, to recipient: JID, kind: NewMessage.Kind = .chat, thread: String? = nil,
    done: @escaping @LoopActor (_ wasSent: Bool) -> Void = { _ in }
  ) {
    var row = NewMessage(.out, kind, peer: recipient.bare.description, time: wallClock(), body: text)
    row.resource = recipient.resource
    row.thread = thread
    identify(&row)
    gate.write(bytes: 512 + text.utf8.count) { [row] transaction throws(DatabaseError) in
      try transaction.insert(row)
    } done: { [weak self, row] _ in
      guard let self else { return }
      archived += 1
      done(transmit(row, to: recipient))
    }
  }

  private func outgoing(_ text: String, to recipient: JID, kind: Message.Kind, time: Int64) -> NewMessage {
    var row = NewMessage(.out, NewMessage.Kind(kind), peer: recipient.bare.description, time: time, body: text)
    row.resource = recipient.resource
    identify(&row)
    return row
  }

  private func identify(_ row: inout NewMessage) {
    let id = session.newID()
    row.messageID = id
    row.originID = id
    // What is queued is sent when the bot comes online.
    row.state = session.isOnline ? .sent : .queued
  }

  @discardableResult
  private func transmit(_ row: NewMessage, to recipient: JID) -> Bool {
    guard let id = row.messageID else { return false }
    var message = Message(Message.Kind(row.kind), to: recipient, id: id, body: row.body)
    message.originID = row.originID
    message.thread = row.thread
    if row.room == nil { message.chatState = .active }
    let wasSent = session.send(message.element)
    if wasSent {
      log.log(.messageSent, at: .debug, "message to \(recipient)", peer: row.peer, stanzaID: id)
    } else if row.state == .sent {
      requeue(id)
    }
    return wasSent
  }

  /// The stream ended between commit and sending.
  private func requeue(_ id: String) {
    gate.write { transaction throws(DatabaseError) in
      try transaction.requeue(messageID: id)
    } done: { _ in
    }
  }

  /// Sends what was queued while the bot was offline, in order.
  func sendQueued() {
    gate.write { transaction throws(DatabaseError) in
      try transaction.queries.queued()
    } done: { [weak self] rows in
      self?.session.turn {
        for row in rows { self?.sendQueued(row) }
      }
    }
  }

  private func sendQueued(_ row: MessageRow) {
    guard let bare = try? JID(row.peer),
      let recipient = row.resource.map({ try? bare.with(receivedResource: $0) }) ?? bare,
      transmit(row.message, to: recipient)
    else { return }
    gate.write { transaction throws(DatabaseError) in
      try transaction.setState(.sent, ofMessage: row.id)
    } done: { _ in
    }
  }

  // MARK: - Commands

  private func reply(_ text: String, to message: ChatMessage) {
    guard let recipient = recipient(of: message) else { return }
    router.replied(text, to: message, now: .now)
    send(text, to: recipient)
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
