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
  var dispatcher: Dispatcher?
  /// The commands as contacts' menus have them.
  private(set) var menus: Menus?
  private var received: Int64 = 0
  private let archivedBefore: Int64
  let outbox: Outbox
  let catchUp: CatchUpFlow
  let rooms: RoomFlow
  var router: Router
  /// What running commands have sent, by the command's id.
  var running: [Int64: RunningOutput] = [:] { didSet { watchWaiting() } }
  /// So much waits behind files that are under way that nobody should add to it (true), or no more (false).
  var onCrowded: @LoopActor (Bool) -> Void = { _ in }
  var isCrowded = false
  let uploads: Uploads
  /// What a contact wrote that is no command, for handlers.
  var onHeard: @LoopActor (ChatMessage) -> Void = { _ in }
  /// A room has another subject.
  var onSubject: @LoopActor (RoomMessage) -> Void = { _ in }
  /// What each contact has written last: its id (XEP-0461).
  var newest = RecentTable<JID, String>(capacity: 4_096)
  var typing = TypingStates()
  var renewal: (any ScheduledWork)?
  /// Commands that an operator tries out.
  let trials = Trials()
  var metrics = Metrics()
  /// Keep the XML of each message.
  var keepsRawXML = false

  init(
    session: Session, gate: ArchiveGate, router: Router, memory: Memory, log: Logger,
    wallClock: @escaping @LoopActor () -> Int64
  ) {
    uploads = Uploads(session: session, scheduler: gate.scheduler)
    self.session = session
    self.gate = gate
    self.router = router
    self.log = log
    self.wallClock = wallClock
    archivedBefore = memory.messages
    account = session.options.account
    outbox = Outbox(session: session, gate: gate, queued: memory.queued, log: log, wallClock: wallClock)
    catchUp = CatchUpFlow(session: session, gate: gate, memory: memory, log: log)
    rooms = RoomFlow(session: session, gate: gate, memory: memory, log: log, wallClock: wallClock)
    for recent in memory.recent { repetitions.remember(recent) }
    for contact in memory.toldOfEncryption { self.router.wasToldOfEncryption(contact, now: .now) }
  }

  /// The dispatcher's hooks lead here.
  func attach(_ dispatcher: Dispatcher) {
    self.dispatcher = dispatcher
    menus = Menus(self)
    session.service = menus
    catchUp.onMessage = { [weak self] in self?.take($0) }
    catchUp.raw = { [weak self] in self?.raw($0) }
    outbox.onTransmit = { [weak self] in self?.said(to: $0) }
    catchUp.onComplete = { [weak self] in self?.outbox.open() }
    attachRooms()
  }

  /// Messages in the archive.
  var archived: Int64 { archivedBefore + received + outbox.accepted }

  func countReceived() { received += 1 }

  // MARK: - Streams

  /// The stream that is resumed leaves open what the server has of our messages.
  var isInDoubt = false

  func online(_ continuity: OnlineInfo.Continuity) {
    defer { uploads.online() }
    let isInDoubt = isInDoubt && continuity == .resumed
    self.isInDoubt = false
    if isInDoubt {
      outbox.close()
      catchUp.begin(isNew: false)
      discovered()
    } else if continuity == .resumed {
      outbox.resume()
      catchUp.resume()
    } else {
      outbox.close()
      catchUp.begin(isNew: continuity == .new)
    }
    rooms.online(continuity, isInDoubt: isInDoubt)
  }

  /// What the server can do is known.
  func discovered() {
    // What was acknowledged is not in doubt.
    outbox.flush()
    let isOffered = session.serverFeatures.contains(Namespace.archive)
    session.handsBack = isOffered
    catchUp.start(isOffered: isOffered)
  }

  /// The process ends: what the archives have is left to the next one.
  func stopReading() {
    catchUp.stop()
    rooms.stopReading()
  }

  // MARK: - In

  func receive(_ message: Message, as element: Element, number: StreamManagement.HandledCount?) {
    if message.kind == .groupchat { return rooms.receive(message, raw: raw(element), number: number) }
    catchUp.pass(Arrival(message: message, raw: raw(element), number: number, way: .live))
  }

  func receive(_ carbon: CarbonCopy, number: StreamManagement.HandledCount?) {
    catchUp.pass(
      Arrival(message: carbon.message, raw: raw(carbon.element), number: number, way: .carbon(carbon.direction)))
  }

  func raw(_ element: Element) -> String? { keepsRawXML ? element.xml : nil }

  /// Archives a message, and acts upon it if it is for the bot.
  func take(_ arrival: Arrival) {
    let came = ContinuousClock.now
    let message = arrival.message
    guard let peer = arrival.peer, arrival.isWorthKeeping || message.settles != nil else {
      return pass(arrival)
    }
    let time = wallClock()
    var row = message.row(from: peer, time: time, raw: arrival.raw)
    // Somebody in a room, to us alone, has no address that could have rights.
    let isThroughRoom = message.kind != .groupchat && session.isRoom(peer)
    if isThroughRoom {
      row.comesThroughRoom(peer)
      row.occupantID = rooms.occupant(at: peer).id
    }
    if arrival.isOurs {
      row.direction = .out
      row.state = .acked
    }
    let chat = chat(of: arrival, from: peer, account: account, at: time)
    let decision = chat.flatMap { decide($0, from: peer) }
    var answer: [NewMessage] = []
    if case .answer(let text)? = decision, let chat, let recipient = recipient(of: chat) {
      answer = rows(answering: chat, text.text, command: text.command, to: recipient)
    }
    var entry = Entry(arrival, row: row, answer: answer, decision: decision)
    // Some services send the errors for what is said to all from our own place.
    if entry.bounced != nil, isThroughRoom, peer.resource == rooms.nick(in: peer) { entry.speaker = nil }
    commit(entry, arrival.number) { [weak self] id in
      guard let self else { return }
      log.log(
        .messageReceived, at: .debug, "message \(arrival.isOurs ? "to" : "from") \(peer)", peer: peer.bare.description,
        stanzaID: message.id)
      confirm(arrival)
      if !arrival.isOurs { metrics.received &+= 1 }
      noteSubject(arrival)
      guard let decision, let chat else { return }
      if !decision.isSilent { mark(arrival) }
      measure(decision, came)
      act(decision, answer, of: chat, at: recipient(of: chat) ?? peer, message: id, came)
      askIfDoubtful(chat, after: decision, at: peer)
    } again: { [weak self] in
      // Its sender did not hear that it came.
      self?.confirm(arrival)
    }
  }

  /// There is nothing to keep of it but where it stood.
  private func pass(_ arrival: Arrival) {
    guard let cursor = arrival.cursor else { return session.take(arrival.number) }
    let count = session.handOver(arrival.number)
    gate.write { transaction throws(DatabaseError) in
      transaction.noteCursor(cursor.id, of: cursor.by)
      if let count { transaction.noteHandled(count.h) }
    } done: { [weak self] in
      if let count { self?.session.stored(count) }
    }
  }

  private func decide(_ chat: ChatMessage, from: JID) -> Decision? {
    heard(chat)
    if let id = chat.messageID, repetitions.isRepeated(id, chat.body, from: from, at: chat.time) {
      log.log(
        .messageReceived, at: .debug,
        "a message of \(chat.sender) came before, with the same id and text: it is not answered again",
        peer: chat.sender.description, stanzaID: id)
      return nil
    }
    return router.decide(chat, now: .now)
  }

  private enum Committed {
    case new(Int64), duplicate
    /// The error that came back for a message of ours.
    case bounce(Int64)
    /// A message of ours, which the server has.
    case ours
    /// Nothing but the word that a message of ours arrived.
    case receipt

    var isNew: Bool { if case .duplicate = self { false } else { true } }
  }

  /// Commits all of it in one transaction, with the count of what is handled; `done` gets the row's id, or `again` is called
  /// when the message was in the archive already.
  private func commit(
    _ entry: Entry, _ number: StreamManagement.HandledCount?, done: @escaping @LoopActor (Int64) -> Void,
    again: @escaping @LoopActor () -> Void
  ) {
    let count = session.handOver(number)
    let sent = session.sentRecord
    gate.write(bytes: entry.bytes) { transaction throws(DatabaseError) -> Committed in
      let committed = try Self.commit(entry, in: transaction)
      // What comes live once more may be older than what is known.
      if let cursor = entry.cursor, entry.isArchived || committed.isNew {
        transaction.noteCursor(cursor.id, of: cursor.by)
      }
      if let count { transaction.noteHandled(count.h) }
      if let sent { transaction.noteSent(sent) }
      return committed
    } done: { [weak self] result in
      guard let self else { return }
      if let count { session.stored(count) }
      switch result {
      case .duplicate: again()
      case .receipt: return
      case .ours: if let id = entry.row.originID ?? entry.row.messageID { outbox.confirmed(id) }
      case .new(let id):
        received += 1
        if entry.isArchived { (entry.cursor.flatMap { rooms.catchUp(of: $0.by) } ?? catchUp).fetched += 1 }
        done(id)
      case .bounce(let id):
        received += 1
        tellBounce(entry)
        done(id)
      }
    } dropped: { [weak self] in
      // It can never be stored: the server need not keep it.
      if let count { self?.store(count) }
    }
  }

  private nonisolated static func commit(
    _ entry: Entry, in transaction: borrowing ArchiveTransaction
  ) throws(DatabaseError) -> Committed {
    if let own = entry.ownWord,
      try transaction.reflect(own.id, room: entry.row.peer, nick: own.nick, stanzaID: entry.row.stanzaID)
    {
      return .ours
    }
    for (id, state) in entry.settles {
      try transaction.advance(id, peer: entry.row.peer, nick: entry.speaker, to: state)
    }
    guard entry.isKept else { return .receipt }
    switch try entry.isArchived ? transaction.insertArchived(entry.row) : transaction.insert(entry.row) {
    case .duplicate: return .duplicate
    case .recognised: return entry.row.direction == .out ? .ours : .duplicate
    case .inserted(let id):
      for row in entry.answer { try transaction.insert(row) }
      if let command = entry.command { try transaction.openCommand(command, message: id, at: entry.row.time) }
      guard let bounced = entry.bounced else { return .new(id) }
      let error = entry.row.error ?? "error"
      let isOurs = try transaction.fail(
        messageID: bounced, peer: entry.row.peer, nick: entry.speaker, error: error)
      return isOurs ? .bounce(id) : .new(id)
    }
  }

  private func tellBounce(_ entry: Entry) {
    let error = entry.row.error ?? "error"
    log.log(
      .messageBounced, "a message to \(entry.row.peer) came back: \(error)", peer: entry.row.peer,
      stanzaID: entry.bounced)
    if let id = entry.bounced { outbox.bounced(id, error) }
    if let room = try? JID(entry.row.peer), rooms.isRoom(room) { rooms.bounced(room) }
  }

  /// Stores how many stanzas are handled, when no message does.
  func store(_ count: StreamManagement.HandledCount) {
    gate.write { transaction throws(DatabaseError) in
      transaction.noteHandled(count.h)
    } done: { [weak self] in
      self?.session.stored(count)
    }
  }

  private func act(
    _ decision: Decision, _ answer: [NewMessage], of message: ChatMessage, at recipient: JID, message id: Int64,
    _ came: ContinuousClock.Instant
  ) {
    switch decision {
    case .answer(let text):
      outbox.committed(answer, to: recipient)
      report(text, to: message)
    case .run(var command):
      command.id = id
      start(command, came)
    case .heard(let message): onHeard(message)
    case .ignore(let reason):
      if reason == .tooMany || reason == .stale {
        log.log(
          reason == .tooMany ? .rateLimited : .messageReceived, at: .debug, "no answer: \(reason.rawValue)",
          peer: recipient.bare.description, room: message.room?.description)
      }
    }
  }

  func report(_ answer: Answer, to message: ChatMessage) {
    let (peer, room) = (message.sender.description, message.room?.description)
    let who = message.who
    switch answer.kind {
    case .denied:
      log.log(
        .commandDenied, "\(who) may not use \(answer.command ?? "")", peer: peer, room: room, command: answer.command)
    case .tooMany: log.log(.rateLimited, "\(who) sends too many commands", peer: peer, room: room)
    case .reflex:
      log.log(.rateLimited, "\(who) answers each answer at once, as a bot does: left alone", peer: peer, room: room)
    default: log.log(.commandRun, at: .debug, "answered \(who)", peer: peer, room: room, command: answer.command)
    }
  }
}
