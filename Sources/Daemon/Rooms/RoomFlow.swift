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

/// The rooms on the session: does what `Rooms` decides, and has an archive's catch-up for each (XEP-0045, XEP-0313).
///
/// A room is known here before it is entered: what the archive holds of it is read first. What is said in it takes the way of all
/// messages, as an `Arrival` with a `RoomMessage`. What we say goes once the room is `isOpen`: we are in it, and what was
/// missed is here, so that a message of ours that is in doubt is not said twice.
@LoopActor
final class RoomFlow {
  private(set) var rooms = Rooms()
  /// Under which nickname rooms are entered whose section names none, or that have no section.
  var usualNick = ""
  /// Messages, in the order in which they are to be archived.
  var onMessage: @LoopActor (Arrival) -> Void = { _ in }
  /// What happened to rooms and in them.
  var onNotice: @LoopActor (RoomNotice) -> Void = { _ in }
  /// How we are addressed has changed.
  var onAddresses: @LoopActor ([JID: RoomAddress]) -> Void = { _ in }
  /// What waits for this room may go.
  var onOpen: @LoopActor (JID) -> Void = { _ in }
  /// What waits for this room will never go, for this reason.
  var onGivenUp: @LoopActor (JID, String) -> Void = { _, _ in }
  /// Whether something waits to be said there.
  var isAwaited: @LoopActor (JID) -> Bool = { _ in false }
  /// The XML of what is archived, if it is kept.
  var raw: @LoopActor (Element) -> String? = { _ in nil }

  unowned let session: Session
  private let gate: ArchiveGate
  let log: Logger
  private let wallClock: @LoopActor () -> Int64
  private var prefixes: [JID: String] = [:]
  /// Rooms of which the past is being read.
  private var expected: [JID: RoomEntry] = [:]
  private var catchUps: [JID: CatchUpFlow] = [:]
  /// Who waits until we are in a room, or are not let in.
  private var waiters: [JID: [@LoopActor (RoomFailure?) -> Void]] = [:]
  private var timer: (work: any ScheduledWork, due: ContinuousClock.Instant)?
  /// Where an earlier process was, on the stream that we may take up.
  private var inherited: [JID]
  private var remembered: String?
  private var hasLookedForQueued = false
  static let leftFirst = "the room was left before it could be said"
  private var isStopping = false
  /// How much of each room's archive is read within a day.
  var mostOfDay = CatchUpFlow.mostOfDay
  /// Which domains are services of rooms, as far as they were asked.
  var services = RecentTable<String, Bool>(capacity: 1_000)

  init(
    session: Session, gate: ArchiveGate, memory: Memory, log: Logger, wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.session = session
    self.gate = gate
    self.log = log
    self.wallClock = wallClock
    inherited = memory.rooms
    for place in inherited { session.expect(room: place) }
  }

  /// A service may rename the bot as often as it likes.
  var renames = NoticeThrottle()
  var now: ContinuousClock.Instant { gate.scheduler.now }

  // MARK: - Which rooms

  /// The rooms of the configuration: those that it names no more are left, new ones entered.
  func configure(_ entries: [RoomEntry], prefixes: [JID: String]) {
    self.prefixes = prefixes
    let named = Set(entries.map(\.address))
    for entry in expected.values + rooms.all.map(\.entry)
    where entry.purpose == .configured && !named.contains(entry.address) { leave(entry.address) }
    for entry in entries { want(entry) }
    tellAddresses()
    lookForQueued()
  }

  /// An earlier process may have left messages for rooms that it visited: these are visited again.
  private func lookForQueued() {
    guard !hasLookedForQueued else { return }
    hasLookedForQueued = true
    gate.write { transaction throws(DatabaseError) in
      try transaction.queries.roomsWithQueued()
    } done: { [weak self] found in
      guard let self else { return }
      for address in found.compactMap({ try? JID($0) }) where !isRoom(address) { visit(address) }
    }
  }

  /// Enters a room for what is to be said there; it is left some time after.
  func visit(_ address: JID) {
    want(RoomEntry(address, nick: usualNick, purpose: .visit))
  }

  /// Enters a room because somebody asks for it, and calls back when we are in it, or are not let in. One of the configuration stays
  /// one.
  func join(_ address: JID, nick: String?, done: @escaping @LoopActor (RoomFailure?) -> Void) {
    let known = expected[address] ?? rooms[address]?.entry
    if let room = rooms[address], room.isJoined, nick == nil || nick == room.nick, known?.purpose != .visit {
      return done(nil)
    }
    waiters[address, default: []].append(done)
    var entry = known ?? RoomEntry(address, nick: usualNick)
    if let nick { entry.nick = nick }
    if entry.purpose != .configured || known == nil { entry.purpose = .asked }
    want(entry)
    if let room = rooms[address], room.isJoined { return settle(address, nil) }
    if case .waiting? = rooms[address]?.state { perform(rooms.retry(address, now: now)) }
  }

  /// Leaves a room. Whether it was one of ours.
  @discardableResult
  func leave(_ address: JID) -> Bool {
    let isOurs = isRoom(address)
    if expected.removeValue(forKey: address) != nil {
      settle(address, RoomFailure(.ended, "left"))
      onGivenUp(address, Self.leftFirst)
    }
    perform(rooms.leave(address))
    return isOurs
  }

  private func want(_ entry: RoomEntry) {
    session.expect(room: entry.address)
    if rooms[entry.address] != nil { return perform(rooms.want(entry, now: now)) }
    if let known = expected[entry.address] {
      if entry.purpose != .visit || known.purpose == .visit { expected[entry.address] = entry }
      return
    }
    expected[entry.address] = entry
    let room = entry.address.description
    gate.write { transaction throws(DatabaseError) in
      (try transaction.queries.cursor(of: room), try transaction.queries.newestTime(in: room))
    } done: { [weak self] cursor, newest in
      self?.enter(entry.address, cursor, newest)
    }
  }

  private func enter(_ address: JID, _ cursor: String?, _ newest: Int64?) {
    guard let entry = expected.removeValue(forKey: address) else { return }
    let catchUp = CatchUpFlow(
      room: address, session: session, gate: gate, cursor: cursor, newest: newest, log: log, wallClock: wallClock)
    catchUp.allowance = DailyAllowance(most: mostOfDay)
    catchUp.onMessage = { [weak self] in self?.onMessage($0) }
    catchUp.raw = { [weak self] in self?.raw($0) }
    catchUp.describe = { [weak self] in self?.rooms.received($0) }
    catchUp.onComplete = { [weak self] in self?.caughtUp(address) }
    if isStopping { catchUp.stop() }
    catchUps[address] = catchUp
    perform(rooms.want(entry, knownUntil: newest.map { min($0, wallClock()) }, now: now))
    tellAddresses()
  }

  // MARK: - What is known

  /// It is a room of ours, whether we are in it or not.
  func isRoom(_ address: JID) -> Bool { rooms[address.bare] != nil || expected[address.bare] != nil }

  /// What is said goes to the room at once.
  func isOpen(_ address: JID) -> Bool { rooms[address.bare]?.isOpen == true }

  /// Rooms that are open.
  var openRooms: [String] { rooms.all.filter(\.isOpen).map(\.address.description) }

  /// Why nothing can be said in the room, if that is not likely to change by itself.
  func obstacle(at address: JID) -> RoomFailure? {
    guard case .waiting(let failure)? = rooms[address.bare]?.state, !failure.mayHeal else { return nil }
    return failure
  }

  /// How the room stands where nothing can be said; nil for one that is open, and for what is no room.
  func state(of address: JID) -> String? {
    guard isRoom(address), !isOpen(address) else { return nil }
    return (rooms[address.bare]?.state ?? .asking).words
  }

  /// What is known of a room, by address: also of one of which the past is still being read.
  var lines: [(entry: RoomEntry, room: Room?)] {
    let known = rooms.all.map { (entry: $0.entry, room: Optional($0)) }
    return (known + expected.values.map { (entry: $0, room: nil) })
      .sorted { $0.entry.address.description < $1.entry.address.description }
  }

  /// Which stay in its room it is that has this nickname; nil: none that is known.
  func stay(at place: JID) -> Int? {
    place.resource.flatMap { rooms[place.bare]?.occupant($0)?.stay }
  }

  /// What for a room is ours; nil: it is none of ours.
  func purpose(of address: JID) -> RoomEntry.Purpose? { (rooms[address]?.entry ?? expected[address])?.purpose }

  /// Our nickname there.
  func nick(in address: JID) -> String? { rooms[address.bare]?.nick ?? expected[address.bare]?.nick }

  /// Rooms that are wanted.
  var count: Int { rooms.count + expected.count }

  /// Finds out whether `recipient` is a room, and enters it if so: then `isRoom` tells. Each domain is asked once whether it is one
  /// of rooms (XEP-0045 section 6.1); that of the account, and those of its contacts, are not asked.
  func prepare(_ recipient: JID, done: @escaping @LoopActor () -> Void) {
    if isRoom(recipient) {
      rooms.use(recipient.bare, now: now)
      return done()
    }
    guard recipient.isBare, recipient.local != nil else { return done() }
    if let hasRooms = services[recipient.domain] {
      if hasRooms { visit(recipient) }
      return done()
    }
    guard session.isOnline, recipient.domain != session.options.account.domain,
      !session.roster.items.keys.contains(where: { $0.domain == recipient.domain })
    else { return done() }
    session.request(.get, to: recipient.server, DiscoInfo.request(), timeout: .seconds(10)) { [weak self] result in
      self?.learn(recipient.domain, result)
      if self?.services[recipient.domain] == true { self?.visit(recipient) }
      done()
    }
  }

  private func learn(_ domain: String, _ result: Result<IQ, StanzaError>) {
    switch result {
    case .success(let iq):
      let info = iq.payload.flatMap(DiscoInfo.init)
      let hasRooms = info?.features.contains(Namespace.muc) == true && info?.has(identity: "conference", "text") == true
      services.update(domain, else: hasRooms) { $0 = hasRooms }
    case .failure(let error) where error.kind != .wait && error.condition != .remoteServerNotFound:
      services.update(domain, else: false) { $0 = false }
    // It could not be asked.
    case .failure: break
    }
  }

  // MARK: - Streams

  /// `isInDoubt`: whether the server has what we said last is not sure; rooms' archives are read for it.
  func online(_ continuity: OnlineInfo.Continuity, isInDoubt: Bool) {
    if continuity == .resumed {
      perform(rooms.resume(now: now))
      // Of one that is not ready yet all is read once it is.
      for room in rooms.all where room.isReady {
        if isInDoubt { readAgain(room) } else { catchUps[room.address]?.resume() }
      }
      return
    }
    if continuity == .adopted {
      for place in inherited where !isRoom(place) { session.send(Presence(.unavailable, to: place).element) }
    }
    inherited = []
    perform(rooms.begin(now: now))
  }

  private func readAgain(_ room: Room) {
    rooms.open(room.address, false)
    catchUps[room.address]?.begin(isNew: false)
    catchUps[room.address]?.start(isOffered: room.hasArchive)
  }

  func offline() {
    rooms.lost()
    timer = nil
  }

  /// What the rooms' archives have is left to the next process.
  func stopReading() {
    isStopping = true
    for catchUp in catchUps.values { catchUp.stop() }
  }

  /// Goodbye to all rooms.
  func farewell() { perform(rooms.farewell()) }

  // MARK: - What comes

  /// A presence that passed the gate. Whether it was about a room of ours.
  func receive(_ presence: Presence) -> Bool {
    guard let actions = rooms.received(presence, now: now) else { return false }
    perform(actions)
    return true
  }

  /// A message of kind `groupchat` that passed the gate.
  func receive(_ message: Message, raw: String?, number: StreamManagement.HandledCount?) {
    guard let said = rooms.received(message, now: now) else { return session.take(number) }
    // A stamp on what is said now is the speaker's, who may write what they like.
    let told = said.origin == .history ? message.delay?.stamp : nil
    rooms.note(knownUntil: min(told ?? .max, wallClock()), of: said.room)
    let arrival = Arrival(message: said.message, raw: raw, number: number, way: .live, room: said)
    if let catchUp = catchUps[said.room] { catchUp.pass(arrival) } else { onMessage(arrival) }
    tick()
  }

  /// A result of an archive that passed the gate. Whether it was a room's.
  func receive(_ result: ArchivedMessage, _ number: StreamManagement.HandledCount?) -> Bool {
    guard result.archive != session.options.account else { return false }
    guard let catchUp = catchUps[result.archive] else {
      session.take(number)
      return true
    }
    catchUp.received(result, number)
    return true
  }

  /// What reads the archive of that room.
  func catchUp(of room: String) -> CatchUpFlow? { (try? JID(room)).flatMap { catchUps[$0] } }

  /// An error came back for what we said there.
  func bounced(_ address: JID) { perform(rooms.doubt(address.bare, now: now)) }

  // MARK: - What is done

  private func perform(_ actions: [RoomAction]) {
    session.turn { for action in actions { perform(action) } }
    arm()
  }

  private func perform(_ action: RoomAction) {
    switch action {
    case .send(let element): session.send(element)
    case .request(let request):
      session.request(request.kind, to: request.to, request.payload) { [weak self] result in
        guard let self else { return }
        perform(rooms.answered(request, result, now: now))
      }
    case .tell(let notice): hear(notice)
    }
  }

  private func arm() {
    guard let due = rooms.due else { return timer = nil }
    if let timer, timer.due <= due { return }
    let work = gate.scheduler.schedule(after: max(.zero, now.duration(to: due))) { [weak self] in
      guard let self else { return }
      timer = nil
      tick()
    }
    timer = (work, due)
  }

  private func tick() {
    perform(rooms.tick(now: now) { [isAwaited] in isAwaited($0) })
  }

  /// Something was said there.
  func used(_ address: JID) { rooms.use(address.bare, now: now) }

  private func hear(_ notice: RoomNotice) {
    switch notice {
    case .entering(let room): catchUps[room]?.begin(isNew: true)
    case .ready(let room): catchUps[room]?.start(isOffered: rooms[room]?.hasArchive ?? false)
    case .joined(let room, _, _): settle(room, nil)
    case .renamed, .notConfigured, .occupant: break
    case .failed(let room, let failure, _, _):
      catchUps[room]?.abandon()
      settle(room, failure)
      if rooms[room]?.entry.purpose == .visit, !failure.mayHeal { onGivenUp(room, "not in the room: \(failure)") }
    case .left(let room):
      catchUps[room]?.abandon()
      catchUps[room] = nil
      settle(room, RoomFailure(.ended, "left"))
      onGivenUp(room, Self.leftFirst)
    }
    report(notice)
    if notice.changesPlaces {
      tellAddresses()
      remember()
    }
    onNotice(notice)
  }

  private func caughtUp(_ room: JID) {
    if rooms.open(room) { onOpen(room) }
  }

  private func settle(_ room: JID, _ failure: RoomFailure?) {
    for done in waiters.removeValue(forKey: room) ?? [] { done(failure) }
  }

  private func tellAddresses() {
    var addresses: [JID: RoomAddress] = [:]
    for room in rooms.all {
      addresses[room.address] = RoomAddress(
        nick: room.nick, prefix: prefixes[room.address] ?? Settings.Room.usualPrefix)
    }
    onAddresses(addresses)
  }

  /// Where we are, so that the next process on this stream can leave what it does not want.
  private func remember() {
    let places = rooms.all.compactMap { room in
      room.isJoined ? (try? room.address.with(receivedResource: room.nick))?.description : nil
    }.joined(separator: "\n")
    guard places != remembered else { return }
    remembered = places
    gate.write { transaction throws(DatabaseError) in
      try transaction.setMeta(.rooms, to: places.isEmpty ? nil : places)
    }
  }
}

extension RoomNotice {
  /// We are somewhere else than before, or under another name.
  fileprivate var changesPlaces: Bool {
    switch self {
    case .joined, .renamed, .failed, .left: true
    case .entering, .ready, .notConfigured, .occupant: false
    }
  }
}
