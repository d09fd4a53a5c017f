import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Systemd
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// The way of a message: decide what it gets (pure), commit it to the archive, then act.
///
/// A text known at once is committed in the same transaction as the message that asked for it, so that one commit stands
/// between question and answer; what has to wait for a program is committed when it comes.
@LoopActor
final class MessageFlow {
  let gate: ArchiveGate
  let log: Logger
  private let account: JID
  unowned let session: Session
  let wallClock: @LoopActor () -> Int64
  private var repetitions = Repetitions()
  /// What came while it is not known whether something before it was missed.
  private var held: [Arrival]?
  var dispatcher: Dispatcher?
  private var received: Int64 = 0
  private let archivedBefore: Int64
  let outbox: Outbox
  var router: Router
  /// Keep the XML of each message.
  var keepsRawXML = false

  init(
    session: Session, gate: ArchiveGate, router: Router, memory: Memory, log: Logger,
    wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.session = session
    self.gate = gate
    self.router = router
    self.log = log
    self.wallClock = wallClock
    archivedBefore = memory.messages
    account = session.options.account
    outbox = Outbox(session: session, gate: gate, queued: memory.queued, log: log, wallClock: wallClock)
    for recent in memory.recent { repetitions.remember(recent) }
  }

  /// The dispatcher's hooks lead here.
  func attach(_ dispatcher: Dispatcher) {
    self.dispatcher = dispatcher
  }

  // MARK: - Streams

  func online(_ continuity: OnlineInfo.Continuity) {
    guard continuity != .resumed else { return outbox.resume() }
    outbox.close()
    if held == nil { held = [] }
  }

  func discovered() {
    outbox.open()
    let arrivals = held ?? []
    held = nil
    for arrival in arrivals { receive(arrival) }
  }

  /// Messages in the archive.
  var archived: Int64 { archivedBefore + received + outbox.accepted }

  // MARK: - In

  /// What a message arrived with.
  struct Arrival {
    var message: Message
    var element: Element
    var number: StreamManagement.HandledCount?
  }

  func receive(_ message: Message, as element: Element, number: StreamManagement.HandledCount?) {
    let arrival = Arrival(message: message, element: element, number: number)
    guard held == nil else { return held?.append(arrival) ?? () }
    receive(arrival)
  }

  private func receive(_ arrival: Arrival) {
    let message = arrival.message
    guard let from = message.from, message.isWorthKeeping else { return session.take(arrival.number) }
    let time = wallClock()
    let row = message.row(from: from, time: time, raw: keepsRawXML ? arrival.element.xml : nil)
    let decision = decide(message, from: from, time: time)
    var answer: [NewMessage] = []
    if case .answer(let text)? = decision { answer = outbox.rows(text.text, to: from, thread: message.thread) }
    let entry = Entry(row: row, answer: answer, decision: decision, bounced: message.kind == .error ? message.id : nil)
    commit(entry, arrival.number) { [weak self] id in
      guard let self else { return }
      log.log(
        .messageReceived, at: .debug, "message from \(from)", peer: from.bare.description, stanzaID: message.id)
      act(decision, answer, to: from, message: id)
    }
  }

  private func decide(_ message: Message, from: JID, time: Int64) -> Decision? {
    guard let chat = message.chat(from: from, account: account, time: time) else { return nil }
    if let id = message.id, repetitions.isRepeated(id, chat.body, from: from) { return nil }
    return router.decide(chat, now: .now)
  }

  /// What goes into the archive together.
  private struct Entry: Sendable {
    var row: NewMessage
    var answer: [NewMessage]
    /// The name of the command that is to run.
    var command: String?
    /// The id of our message that came back as an error.
    var bounced: String?

    init(row: NewMessage, answer: [NewMessage], decision: Decision?, bounced: String?) {
      self.row = row
      self.answer = answer
      self.bounced = bounced
      if case .run(let command)? = decision { self.command = command.request.command }
    }

    /// About what it holds in memory.
    var bytes: Int {
      512 + (row.body?.utf8.count ?? 0) + (row.rawXML?.utf8.count ?? 0)
        + answer.reduce(0) { $0 + 512 + ($1.body?.utf8.count ?? 0) }
    }
  }

  private enum Committed {
    case new(Int64), duplicate
    /// The error that came back for a message of ours.
    case bounce(Int64)
  }

  /// Commits all of it in one transaction, with the count of what is handled; `done` gets the row's id, unless the message
  /// was in the archive already.
  private func commit(
    _ entry: Entry, _ number: StreamManagement.HandledCount?, done: @escaping @LoopActor (Int64) -> Void
  ) {
    let count = session.handOver(number)
    gate.write(bytes: entry.bytes) { transaction throws(DatabaseError) -> Committed in
      let committed = try Self.commit(entry, in: transaction)
      if let id = entry.row.stanzaID { try transaction.noteCursor(id.id, of: id.by) }
      if let count { try transaction.noteHandled(count.h) }
      return committed
    } done: { [weak self] result in
      guard let self else { return }
      if let count { session.stored(count) }
      switch result {
      case .duplicate: return
      case .new(let id):
        received += 1
        done(id)
      case .bounce(let id):
        received += 1
        tellBounce(entry)
        done(id)
      }
    }
  }

  private nonisolated static func commit(
    _ entry: Entry, in transaction: borrowing ArchiveTransaction
  ) throws(DatabaseError) -> Committed {
    guard case .inserted(let id) = try transaction.insert(entry.row) else { return .duplicate }
    for row in entry.answer { try transaction.insert(row) }
    if let command = entry.command { try transaction.openCommand(command, message: id, at: entry.row.time) }
    guard let bounced = entry.bounced else { return .new(id) }
    let error = entry.row.error ?? "error"
    return try transaction.fail(messageID: bounced, peer: entry.row.peer, error: error) ? .bounce(id) : .new(id)
  }

  private func tellBounce(_ entry: Entry) {
    let error = entry.row.error ?? "error"
    log.log(
      .messageSent, at: .warning, "a message to \(entry.row.peer) came back: \(error)", peer: entry.row.peer,
      stanzaID: entry.bounced)
    if let id = entry.bounced { outbox.bounced(id, error) }
  }

  /// Stores how many stanzas are handled, when no message does.
  func store(_ count: StreamManagement.HandledCount) {
    gate.write { transaction throws(DatabaseError) in
      try transaction.noteHandled(count.h)
    } done: { [weak self] in
      self?.session.stored(count)
    }
  }

  private func act(_ decision: Decision?, _ answer: [NewMessage], to recipient: JID, message id: Int64) {
    switch decision {
    case .answer(let text):
      outbox.committed(answer, to: recipient)
      report(text, to: recipient)
    case .run(var command):
      command.id = id
      dispatcher?.start(command)
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
}
