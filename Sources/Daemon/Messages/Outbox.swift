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
  /// Messages given to the stream since the start; one that was sent again counts again.
  private(set) var transmitted: UInt64 = 0
  /// Messages since the start that came back, or can't be sent.
  private(set) var failed: UInt64 = 0
  /// Messages that wait until the bot is online, or until others have gone.
  private(set) var queued: Int {
    didSet { if Self.isFull(queued) != Self.isFull(oldValue) { onFull(Self.isFull(queued)) } }
  }
  /// So much waits that nobody should add to it unasked (true), or no more (false).
  var onFull: @LoopActor (Bool) -> Void = { _ in }
  private static func isFull(_ queued: Int) -> Bool { queued >= 500 }
  /// Messages that wait until the bot is in the rooms that they go to.
  private var held = 0
  /// Messages that wait for a room, by its address: as last counted in the archive, with those that came since.
  private var heldIn: [String: Int] = [:]
  /// So many may wait for one room.
  nonisolated static let mostHeld = 500
  /// Messages that are on their way: the server has not confirmed them.
  private var underWay = 0
  /// Messages that the server does not have yet, as far as is known.
  var waiting: Int { queued + held + underWay }
  /// Counts what makes the queue longer behind its own back.
  private var additions = 0
  private var confidants = Confidants()
  /// Which recipients are rooms, and which of these take something.
  weak var rooms: RoomFlow?
  /// The queue is being sent: what comes meanwhile goes behind it.
  private var isSendingQueue = false
  private var waitsForServer = false
  /// Until it is known what the server has of an earlier stream, nothing new is sent.
  private var isOpen = false
  /// Counts openings and closings: a write that completes late opens nothing.
  private var changes = 0
  private let acks: AckBatch
  /// Called with the recipient of each message that was given to the stream, with "active" in it (XEP-0085).
  var onTransmit: @LoopActor (JID) -> Void = { _ in }

  init(
    session: Session, gate: ArchiveGate, queued: Int, log: Logger, wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.session = session
    self.gate = gate
    self.queued = queued
    self.log = log
    self.wallClock = wallClock
    acks = AckBatch(gate: gate) { [weak session] in session?.sentRecord }
  }

  // MARK: - What the server has

  /// There is a new session: what the old one left in doubt has to be cleared first.
  func close() {
    changes += 1
    isOpen = false
  }

  /// It is known what the server has of what was sent on earlier streams; the rest is sent again.
  func open() {
    acks.flush()
    changes += 1
    let opening = changes
    gate.write { transaction throws(DatabaseError) in
      try transaction.requeueSent()
    } done: { [weak self] count in
      guard let self else { return }
      queued = count
      held = 0
      underWay = 0
      // Another session may have begun meanwhile.
      guard opening == changes else { return }
      isOpen = true
      resume()
    }
  }

  /// The server has these messages.
  func acknowledged(_ ids: [String]) {
    acks.add(ids)
    underWay = max(0, underWay - ids.count)
    for id in ids { end(id, .acked) }
    if waitsForServer { resume() }
  }

  /// The server has this message, as the archive knows already.
  func confirmed(_ id: String) { end(id, .acked) }

  /// Nothing more becomes of the message on its way to the server.
  private func end(_ id: String, _ fate: DeliveryWaiters.Fate) {
    confidants.forget(id)
    waiters.tell(id, fate)
  }

  /// The server has all that an earlier process sent up to this message.
  func acknowledged(upTo id: String) {
    gate.write { transaction throws(DatabaseError) in try transaction.acknowledge(upTo: id) }
  }

  /// The message must not be sent again.
  func setAside(_ id: String) {
    failed &+= 1
    underWay = max(0, underWay - 1)
    end(id, .failed("the stream ended each time that it was sent"))
    gate.write { transaction throws(DatabaseError) in
      try transaction.setAside(id, error: "the stream ended each time that it was sent")
    }
  }

  /// What is noted of acknowledgements is written, before the end.
  func flush() { acks.flush() }

  /// Who waits for what became of their messages.
  let waiters = DeliveryWaiters()

  /// An error came back for the message.
  func bounced(_ id: String, _ error: String) {
    failed &+= 1
    end(id, .failed(error))
  }

  // MARK: - Rows

  /// The messages of a text: one, or several where it is longer than the server takes.
  /// `longest`: bytes of one of them, if they are to be shorter.
  func pieces(_ text: String, to recipient: JID, thread: String?, longest: Int = .max) -> [String] {
    let limit = StanzaBudget.text(maxBytes: session.stanzaLimit, to: recipient, thread: thread)
    return MessagePieces.split(text, limit: min(limit, longest))
  }

  /// The rows of a text, one for each of its pieces.
  func rows(_ text: String, to recipient: JID, thread: String? = nil) -> [NewMessage] {
    pieces(text, to: recipient, thread: thread).map { row($0, to: recipient, thread: thread, id: session.newID()) }
  }

  /// The row of a reaction.
  func reaction(_ reaction: NewMessage.Reaction, to recipient: JID) -> NewMessage {
    var row = self.row(nil, to: recipient, thread: nil, id: session.newID())
    row.reaction = reaction
    return row
  }

  /// The row of a message that says `body`.
  func row(_ body: String?, to recipient: JID, thread: String?, id: String) -> NewMessage {
    let isRoom = rooms?.isRoom(recipient) == true
    let goesNow =
      isOpen && session.isOnline && !isSendingQueue && queued == 0 && !session.isCongested
      && (!isRoom || rooms?.isOpen(recipient) == true)
    var row = NewMessage(
      .out, isRoom && recipient.isBare ? .groupchat : .chat, peer: recipient.bare.description, time: wallClock(),
      body: body)
    row.resource = recipient.resource
    if isRoom {
      row.room = row.peer
      row.nick = recipient.resource ?? rooms?.nick(in: recipient)
    }
    if isRoom, recipient.resource != nil { confidants.note(id, rooms?.stay(at: recipient)) }
    row.thread = thread
    row.messageID = id
    row.originID = id
    row.state = goesNow ? .sent : .queued
    // Whoever can be told was told before, by `isFull`.
    if !goesNow, isRoom, isFull(recipient) {
      row.state = .failed
      row.error = Self.tooMuch
    }
    return row
  }

  /// To be called when `rows` are committed: sends them, unless they are to wait.
  func committed(_ rows: [NewMessage], to recipient: JID) {
    accepted += Int64(rows.count)
    for row in rows {
      if row.state == .failed {
        fail(row)
      } else if row.state == .queued {
        queued += 1
        if let room = row.room { heldIn[room, default: 0] += 1 }
      } else if isSendingQueue || queued > 0 || !transmit(row, to: recipient, delayed: false) {
        // Something that was accepted before it waits by now: it does not overtake that.
        withdraw(row)
      }
    }
    sendQueue()
  }

  func isOneMessage(_ text: String, to recipient: JID, thread: String?) -> Bool {
    pieces(text, to: recipient, thread: thread).count <= 1
  }

  /// The row of a text that goes now, by another way than a message; nil when it can't, or does not fit into one.
  func row(forReply text: String, to recipient: JID, thread: String?) -> NewMessage? {
    guard isOpen, session.isOnline, isOneMessage(text, to: recipient, thread: thread) else { return nil }
    var row = row(text, to: recipient, thread: thread, id: session.newID())
    row.state = .sent
    return row
  }

  /// The same for such a row: `send` says whether it went. If the server does not confirm it, it goes as a message.
  func committed(_ row: NewMessage, by send: (_ token: String) -> Bool) {
    accepted += 1
    if isOpen, let id = row.messageID, send(id) {
      underWay += 1
      transmitted &+= 1
    } else {
      withdraw(row)
      sendQueue()
    }
  }

  /// Archives `text` and sends it, now or later.
  func send(_ text: String, to recipient: JID, thread: String? = nil) {
    accept(rows(text, to: recipient, thread: thread), to: recipient)
  }

  /// Archives `rows`, calls `done`, and sends them, now or later.
  func accept(_ rows: [NewMessage], to recipient: JID, done: @escaping @LoopActor () -> Void = {}) {
    let bytes = rows.reduce(0) { $0 + 512 + ($1.body?.utf8.count ?? 0) }
    gate.write(bytes: bytes) { transaction throws(DatabaseError) in
      for row in rows { try transaction.insert(row) }
    } done: { [weak self] in
      done()
      self?.committed(rows, to: recipient)
    }
  }

  // MARK: - The stream

  /// A stanza that is longer than servers take ends each stream that it is sent on, so it is never sent.
  private func isTooLong(_ row: NewMessage, to recipient: JID) -> Bool {
    Message.isTooLong(
      row, to: recipient, from: session.options.account, limit: session.stanzaLimit ?? StanzaBudget.usual)
  }

  private func transmit(_ row: NewMessage, to recipient: JID, delayed: Bool) -> Bool {
    guard isOpen, let id = row.messageID, row.room == nil || rooms?.isOpen(recipient) == true else { return false }
    // It goes by the queue, which tells it from the others.
    if !delayed, isTooLong(row, to: recipient) || isForAnother(row, than: recipient) { return false }
    let message = Message(row, id: id, to: recipient, delayedBy: delayed ? session.options.account : nil)
    guard session.send(message.element, token: id) else { return false }
    underWay += 1
    transmitted &+= 1
    if row.room == nil { onTransmit(recipient) } else { rooms?.used(recipient) }
    log.log(.messageSent, at: .debug, "message to \(recipient)", peer: row.peer, stanzaID: id)
    return true
  }

  /// It could not be sent at once: it waits.
  private func withdraw(_ row: NewMessage) {
    guard let id = row.messageID else { return }
    queued += 1
    additions += 1
    gate.write { transaction throws(DatabaseError) in
      try transaction.requeue(messageID: id)
    }
  }

  // MARK: - Rooms

  /// It is a private word, and not for the one who has the nickname now, or nobody knows.
  private func isForAnother(_ row: NewMessage, than recipient: JID) -> Bool {
    guard row.room != nil, recipient.resource != nil, let id = row.messageID else { return false }
    return !confidants.admits(id, rooms?.stay(at: recipient))
  }

  /// So much waits for this room that nothing is to be added to it.
  func isFull(_ room: JID) -> Bool { heldIn[room.bare.description, default: 0] >= Self.mostHeld }
  nonisolated static let tooMuch = "too much waits for the room"

  /// Something waits for this room, as far as is known.
  func isAwaited(_ room: JID) -> Bool { !isOpen || heldIn[room.description, default: 0] > 0 }

  /// It was too much.
  private func fail(_ row: NewMessage) {
    failed &+= 1
    let reason = row.error ?? ""
    log.log(.stanzaSetAside, "a message to \(row.peer) is not sent: \(reason)", peer: row.peer, stanzaID: row.messageID)
    if let id = row.messageID { end(id, .failed(reason)) }
  }

  /// What waits for a room may go.
  func roomOpened() {
    additions += 1
    queued += held
    held = 0
    sendQueue()
  }

  /// What waits for this room will never go.
  func giveUp(room: JID, _ reason: String) {
    heldIn[room.description] = nil
    gate.write { transaction throws(DatabaseError) in
      try transaction.giveUp(room: room.description, error: reason)
    } done: { [weak self] ids in
      guard let self, !ids.isEmpty else { return }
      // Whether they were counted here or there: the queue finds out.
      failed &+= UInt64(ids.count)
      for id in ids { end(id, .failed(reason)) }
      log.log(
        .stanzaSetAside, at: .warning, "\(ids.count) messages to \(room) are not sent: \(reason)",
        room: room.description)
      roomOpened()
    }
  }

  // MARK: - The queue

  /// Sends what is queued, in order. To be called when the bot has come online.
  func sendQueue() {
    guard isOpen, queued > 0, session.isOnline, !isSendingQueue else { return }
    isSendingQueue = true
    if session.isCautious, isBlocked { waitsForServer = true } else { sendNext() }
  }

  /// The server has taken what was sent to it, or there is another stream.
  func resume() {
    if waitsForServer, !isBlocked {
      waitsForServer = false
      sendNext()
    } else {
      sendQueue()
    }
  }

  /// The server has to take more of what was sent before it gets the next.
  private var isBlocked: Bool { session.unsentBytes > Self.congestion || session.isCongested }

  private func sendNext() {
    let additions = additions
    gate.write { [open = rooms?.openRooms ?? []] transaction throws(DatabaseError) in
      let rows = try transaction.queries.queued(limit: Self.batch, rooms: open)
      return (rows, rows.isEmpty ? try transaction.queries.queuedByRoom() : [:])
    } done: { [weak self] rows, left in
      guard let self else { return }
      // What was put back meanwhile, or waits for a room that was opened, was not looked at.
      if rows.isEmpty, additions != self.additions { return sendNext() }
      transmit(rows, left)
    }
  }

  /// `left`: what waits where none of `rows` is, by room.
  private func transmit(_ rows: [MessageRow], _ left: [String: Int]) {
    if rows.isEmpty {
      queued = 0
      heldIn = left
      held = left.values.reduce(0, +)
      for room in left.keys.compactMap({ try? JID($0) }) where rooms?.isRoom(room) == false {
        giveUp(room: room, RoomFlow.leftFirst)
      }
    }
    var done: [(id: Int64, nick: String?)] = []
    var isOutdated = false
    var failed: [(id: Int64, reason: String)] = []
    func fail(_ row: MessageRow, _ reason: String) {
      failed.append((row.id, reason))
      self.failed &+= 1
      log.log(
        .stanzaSetAside, "a message to \(row.peer) is not sent: \(reason)", peer: row.peer, stanzaID: row.messageID)
      if let id = row.messageID { end(id, .failed(reason)) }
    }
    session.turn {
      for row in rows {
        guard let recipient = Self.recipient(row) else {
          fail(row, "the address can't be read")
          continue
        }
        if isTooLong(row.message, to: recipient) {
          fail(row, "it is longer than the server takes")
          continue
        }
        // The bot has just left it.
        if row.room != nil, rooms?.isOpen(recipient) != true {
          isOutdated = true
          continue
        }
        if isForAnother(row.message, than: recipient) {
          fail(row, "its nickname in the room may be somebody else's by now")
          continue
        }
        guard transmit(row.message, to: recipient, delayed: true) else { break }
        // By its nickname the room's copy of it is known.
        done.append((row.id, row.message.kind == .groupchat ? rooms?.nick(in: recipient) : nil))
        if let room = row.room, let waiting = heldIn[room] { heldIn[room] = waiting > 1 ? waiting - 1 : nil }
        if session.isCautious { break }
      }
    }
    // With the stream gone, or nothing left, the queue is not being sent any more.
    guard !done.isEmpty || !failed.isEmpty else {
      if isOutdated { return sendNext() }
      return isSendingQueue = false
    }
    let sent = session.sentRecord
    gate.write { [done, failed] transaction throws(DatabaseError) in
      if let sent { transaction.noteSent(sent) }
      for (id, nick) in done {
        try transaction.setState(.sent, ofMessage: id)
        if let nick { try transaction.setNick(nick, ofMessage: id) }
      }
      for (id, reason) in failed { try transaction.setState(.failed, ofMessage: id, error: reason) }
    } done: { [weak self, count = done.count + failed.count] in
      guard let self else { return }
      queued = max(0, queued - count)
      if isBlocked, session.isOnline { waitsForServer = true } else { sendNext() }
    }
  }

  private static func recipient(_ row: MessageRow) -> JID? {
    guard let bare = try? JID(row.peer) else { return nil }
    guard let resource = row.resource else { return bare }
    return try? bare.with(receivedResource: resource)
  }
}

extension Session {
  /// How far the stream has come, as the archive keeps it.
  var sentRecord: StreamRecord.Sent? { lastSent.map { .init(count: $0.count, last: $0.last) } }
}
