import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Systemd
import XMPPClient
import XMPPStanzas

/// The way out: every message of ours is in the archive before it goes to the server, and what can't go now goes, in
/// order, when the bot is online.
@LoopActor
final class Outbox {
  /// What becomes of a message that the server can't be reached for.
  enum Fallback {
    /// It is queued.
    case wait
    /// It has failed, and whoever sent it is told.
    case fail
  }

  /// Bytes of UTF-8 in one message: with its envelope below what every server takes (RFC 6120 section 13.12: 10,000).
  static let pieceLimit = 8_000
  /// Queued rows that are looked at in one go.
  private nonisolated static let batch = 100
  /// More than this that the server has not taken, and the queue waits for it.
  private static let congestion = 262_144

  private unowned let session: Session
  private let gate: ArchiveGate
  private let log: Logger
  private let wallClock: @LoopActor () -> Int64
  /// Messages accepted since the start.
  private(set) var accepted: Int64 = 0
  /// Messages that wait until the bot is online.
  private(set) var queued: Int
  /// The queue is being sent: what comes meanwhile goes behind it.
  private var isSendingQueue = false
  private var waitsForServer = false

  init(
    session: Session, gate: ArchiveGate, queued: Int, log: Logger, wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.session = session
    self.gate = gate
    self.queued = queued
    self.log = log
    self.wallClock = wallClock
  }

  // MARK: - Rows

  /// The rows of a text: one, or several where it is longer than a server need take.
  func rows(_ text: String, to recipient: JID, thread: String?, fallback: Fallback = .wait) -> [NewMessage] {
    let time = wallClock()
    // What may not wait can't stand behind the queue either.
    let goesNow = fallback == .fail || session.isOnline && !isSendingQueue
    return MessagePieces.split(text, limit: Self.pieceLimit).map { piece in
      var row = NewMessage(.out, .chat, peer: recipient.bare.description, time: time, body: piece)
      row.resource = recipient.resource
      row.thread = thread
      row.messageID = session.newID()
      row.originID = row.messageID
      row.state = goesNow ? .sent : .queued
      return row
    }
  }

  /// To be called when `rows` are committed: sends them, unless they are to wait. Whether all have gone.
  @discardableResult
  func committed(_ rows: [NewMessage], to recipient: JID, fallback: Fallback = .wait) -> Bool {
    accepted += Int64(rows.count)
    var allSent = true
    for row in rows {
      if row.state == .queued {
        queued += 1
      } else if transmit(row, to: recipient) {
        continue
      } else {
        withdraw(row, fallback)
      }
      allSent = false
    }
    sendQueue()
    return allSent
  }

  /// Archives `text`, hands it to the server, and then calls `done` with whether all of it could be.
  func send(
    _ text: String, to recipient: JID, thread: String? = nil, fallback: Fallback = .wait,
    done: @escaping @LoopActor (_ wasSent: Bool) -> Void = { _ in }
  ) {
    let rows = rows(text, to: recipient, thread: thread, fallback: fallback)
    gate.write(bytes: 512 * rows.count + text.utf8.count) { transaction throws(DatabaseError) in
      for row in rows { try transaction.insert(row) }
    } done: { [weak self] in
      guard let self else { return }
      done(committed(rows, to: recipient, fallback: fallback))
    }
  }

  // MARK: - The stream

  private func transmit(_ row: NewMessage, to recipient: JID) -> Bool {
    guard let id = row.messageID else { return false }
    var message = Message(Message.Kind(row.kind), to: recipient, id: id, body: row.body)
    message.originID = row.originID
    message.thread = row.thread
    if row.room == nil { message.chatState = .active }
    guard session.send(message.element) else { return false }
    log.log(.messageSent, at: .debug, "message to \(recipient)", peer: row.peer, stanzaID: id)
    return true
  }

  /// The stream ended between commit and sending.
  private func withdraw(_ row: NewMessage, _ fallback: Fallback) {
    guard let id = row.messageID else { return }
    gate.write { transaction throws(DatabaseError) in
      switch fallback {
      case .wait: try transaction.requeue(messageID: id)
      case .fail: _ = try transaction.fail(messageID: id, peer: row.peer, error: "the bot was offline")
      }
    } done: { [weak self] in
      guard let self, fallback == .wait else { return }
      queued += 1
      sendQueue()
    }
  }

  // MARK: - The queue

  /// Sends what is queued, in order. To be called when the bot has come online.
  func sendQueue() {
    guard queued > 0, session.isOnline, !isSendingQueue else { return }
    isSendingQueue = true
    sendNext()
  }

  /// The server has taken what was sent to it, or there is another stream.
  func resume() {
    if waitsForServer {
      waitsForServer = false
      sendNext()
    } else {
      sendQueue()
    }
  }

  private func sendNext() {
    gate.write { transaction throws(DatabaseError) in
      try transaction.queries.queued(limit: Self.batch)
    } done: { [weak self] rows in
      self?.transmit(rows)
    }
  }

  private func transmit(_ rows: [MessageRow]) {
    if rows.isEmpty { queued = 0 }
    var done: [Int64] = []
    var failed: [Int64] = []
    session.turn {
      for row in rows {
        guard let recipient = Self.recipient(row) else {
          failed.append(row.id)
          continue
        }
        guard transmit(row.message, to: recipient) else { break }
        done.append(row.id)
      }
    }
    // With the stream gone, or nothing left, the queue is not being sent any more.
    guard !done.isEmpty || !failed.isEmpty else { return isSendingQueue = false }
    gate.write { [done, failed] transaction throws(DatabaseError) in
      for id in done { try transaction.setState(.sent, ofMessage: id) }
      for id in failed { try transaction.setState(.failed, ofMessage: id, error: "the address can't be read") }
    } done: { [weak self, count = done.count + failed.count] in
      guard let self else { return }
      queued = max(0, queued - count)
      if session.unsentBytes > Self.congestion { waitsForServer = true } else { sendNext() }
    }
  }

  private static func recipient(_ row: MessageRow) -> JID? {
    guard let bare = try? JID(row.peer) else { return nil }
    guard let resource = row.resource else { return bare }
    return try? bare.with(receivedResource: resource)
  }
}
