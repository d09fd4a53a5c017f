import Archive
import Crypto
import EventLoop
import JID
import SQLite
import Systemd
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// Fetches what was missed between two sessions from an archive on a server (XEP-0313), the account's or a room's, and holds back
/// what comes live until then, so that all of it is archived in order.
@LoopActor
final class CatchUpFlow {
  /// Messages, in order.
  var onMessage: @LoopActor (Arrival) -> Void = { _ in }
  /// The XML of what is archived, if it is kept.
  var raw: @LoopActor (Element) -> String? = { _ in nil }
  /// What a message of a room's archive is there.
  var describe: @LoopActor (ArchivedMessage) -> RoomMessage? = { _ in nil }
  /// All that was missed is on its way to the archive, or can't be had.
  var onComplete: @LoopActor () -> Void = {}

  private unowned let session: Session
  private let gate: ArchiveGate
  private let log: Logger
  private let archive: JID
  /// It is the account's own, and no room's.
  private let isAccount: Bool
  /// Whose it is, in words.
  private let owner: String
  /// For rooms: microseconds since 1970, UTC. The clock of our own server may be wrong without harm, and its archive is not without
  /// end.
  private let wallClock: (@LoopActor () -> Int64)?
  private var machine: CatchUp<Arrival>?
  /// The last message of the archive that is here; "" when it was empty; nil before the first time.
  private var cursor: String?
  private var newest: Int64?
  /// Live messages move the cursor: nothing before them is missing.
  private var isUpToDate = false
  /// Messages of the archive that were not here, since this was last told.
  var fetched = 0
  /// Up to this id messages are read that were read before: whatever has become of their rows, none of them is run.
  private var known: String?
  /// What is stamped later than this was not read before: the message of that id may be in the archive no more.
  private var knownUntil: Int64?
  /// So many times was it begun.
  private var streams = 0
  /// The stream went away while something was asked.
  private var isInterrupted = false
  /// The session is not the first, and none was resumed: something may have been missed.
  private var mayHaveMissed = false
  private var hasHistory: Bool
  private var retryTimer: (any ScheduledWork)?
  /// While messages are held, an archive that says nothing is not waited for longer than this; while live messages come,
  /// its answer may stand behind them, and the time-outs of the requests decide.
  private static let patience = Duration.seconds(20)
  private var stallTimer: (any ScheduledWork)?
  /// A live message came since the timer was set.
  private var isBusy = false
  /// Our own messages wait for the end of this.
  private var isAwaited = false
  /// The server says that it has an archive.
  private var isOffered = false
  private var isAbandoned = false
  /// The process ends: the next one reads on from what is stored.
  private var isStopping = false
  /// After an archive was not read to its end, it is read again.
  private static let laterTime = Duration.seconds(600)
  /// Messages of a room that are read at a time: a day of the busiest ones, and no more than some megabytes on the disk, since
  /// whoever has a room can have an archive that never ends.
  static let mostOfRoom = 10_000
  /// Messages of a room's archive within a day: catch-up after catch-up would fill the disk.
  static let mostOfDay = 100_000
  /// What is left of that.
  var allowance = DailyAllowance(most: mostOfDay)
  /// That the day's are used up was told, and the archive was not read to its end since.
  private var isLimitTold = false

  init(session: Session, gate: ArchiveGate, memory: Memory, log: Logger) {
    self.session = session
    self.gate = gate
    self.log = log
    archive = session.options.account
    isAccount = true
    owner = "the server's archive"
    wallClock = nil
    cursor = memory.cursor
    newest = memory.newestStamp
    hasHistory = memory.messages > 0
  }

  /// That of a room. `cursor`, `newest`: up to where it is known, and when the newest message is from.
  init(
    room: JID, session: Session, gate: ArchiveGate, cursor: String?, newest: Int64?, log: Logger,
    wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.wallClock = wallClock
    self.session = session
    self.gate = gate
    self.log = log
    archive = room
    isAccount = false
    owner = "the archive of \(room)"
    self.cursor = cursor
    self.newest = newest
    // Where a room has no archive, it tells what was missed when it is entered.
    hasHistory = false
  }

  // MARK: - Streams

  /// A session begins, or that of an earlier process is taken up: from now on messages are held.
  func begin(isNew: Bool) {
    mayHaveMissed = isNew && hasHistory
    hasHistory = true
    isAwaited = true
    hold()
  }

  private func hold() {
    streams += 1
    isUpToDate = false
    isInterrupted = false
    retryTimer = nil
    stallTimer = nil
    if machine == nil {
      machine = CatchUp(
        archive: archive, cursor: cursor, newest: newest,
        most: isAccount ? nil : min(Self.mostOfRoom, allowance.left(now: gate.scheduler.now)))
    } else {
      machine?.lost()
    }
  }

  /// The server's features are known.
  func start(isOffered: Bool) {
    self.isOffered = isOffered
    guard machine != nil else { return }
    if isOffered { return readFromAnchor() }
    if mayHaveMissed, isAccount { tellMissed("the server keeps no message archive for this account") }
    perform(machine?.giveUp("the server has none") ?? [])
  }

  /// Messages of ours that are in doubt may stand in the archive before the last message that came.
  private func readFromAnchor() {
    let stream = streams
    gate.write { [archive, isAccount] transaction throws(DatabaseError) in
      let name = archive.description
      return (
        anchor: try transaction.queries.anchor(in: name, isAccount: isAccount),
        newest: isAccount
          ? try transaction.queries.newestArrival() : try transaction.queries.newestTime(in: name)
      )
    } done: { [weak self] found in
      guard let self, stream == streams, machine != nil else { return }
      // Of a room that was not read before, what is in its archive is not ours to read.
      if let anchor = found.anchor, anchor != cursor, isAccount || !anchor.isEmpty {
        machine?.rewind(to: anchor)
        known = cursor?.isEmpty == true ? nil : cursor
        knownUntil = found.newest
      }
      perform(machine?.start(queryID: Random.identifier(bytes: 9), now: wallClock?()) ?? [])
    }
  }

  /// The stream goes on where the last one ended. What the server should send again by XEP-0198 is looked for in the archive
  /// all the same: ejabberd loses or turns about what comes while a session passes from one connection to the next.
  func resume() {
    if machine == nil, isOffered, cursor != nil {
      hold()
    } else if isInterrupted {
      isInterrupted = false
    } else {
      return
    }
    perform(machine?.start(queryID: Random.identifier(bytes: 9), now: wallClock?()) ?? [])
  }

  /// The room is not ours any more, or not at present: what is held passes, and nothing is asked until it begins anew.
  func abandon() {
    isAbandoned = true
    streams += 1
    known = nil
    retryTimer = nil
    stallTimer = nil
    perform(machine?.giveUp("the room was left") ?? [])
    // The rest of what was held does not wait for its turn.
    while machine != nil { perform(machine?.stored() ?? []) }
    isAbandoned = false
  }

  /// Nothing more is asked or taken.
  func stop() {
    isStopping = true
    retryTimer = nil
    stallTimer = nil
  }

  // MARK: - Messages

  /// A message that came live.
  func pass(_ arrival: Arrival) {
    var arrival = arrival
    arrival.movesCursor = isUpToDate
    isBusy = true
    // Only what becomes a row has a place in the order.
    guard machine != nil, arrival.isWorthKeeping else { return hand(on: arrival) }
    let id = arrival.stanzaID.flatMap { $0.by == archive.description ? $0.id : nil }
    if id != nil, cursor != nil {
      // The archive has it, behind the cursor: it comes from there should this process end. A server that waits for our
      // acknowledgement of the first that is held would give up on those behind it.
      session.take(arrival.number)
      arrival.number = nil
    }
    perform(machine?.live(arrival, stanzaID: id, size: arrival.size) ?? [])
  }

  /// A result of the archive.
  func received(_ result: ArchivedMessage, _ number: StreamManagement.HandledCount?) {
    if isStopping { return session.take(number) }
    watchProgress()
    let actions = machine?.received(result) ?? []
    var isTaken = false
    for action in actions {
      guard case .archive(let message) = action else {
        perform(action)
        continue
      }
      isTaken = true
      if !isAccount { allowance.take(now: gate.scheduler.now) }
      if let knownUntil, let stamp = message.stamp, stamp > knownUntil { known = nil }
      var arrival = Arrival(
        message: message.message, raw: raw(message.element), number: number, way: .archived(message),
        movesCursor: known == nil, isPast: known != nil)
      if !isAccount {
        arrival.room = describe(message)
        arrival.message = arrival.room?.message ?? message.message
        arrival.isIgnored = arrival.room == nil
      }
      hand(on: arrival)
      if message.id == known { known = nil }
    }
    if !isTaken { session.take(number) }
  }

  private func hand(on arrival: Arrival) {
    if let id = arrival.cursor, id.by == archive.description {
      cursor = id.id
      if case .archived(let result) = arrival.way { newest = result.stamp ?? newest }
    }
    onMessage(arrival)
  }

  // MARK: - Actions

  private func perform(_ actions: [CatchUp<Arrival>.Action]) {
    for action in actions { perform(action) }
  }

  private func perform(_ action: CatchUp<Arrival>.Action) {
    switch action {
    case .query(let query): ask(query)
    // Only results make it.
    case .archive: break
    case .setCursor(let id):
      if id == known { known = nil }
      guard known == nil else { return }
      let isFirst = cursor == nil
      cursor = id
      gate.write { [archive, isAccount] transaction throws(DatabaseError) in
        if isFirst, isAccount { try transaction.setMeta(.archiveStart, to: id) }
        transaction.noteCursor(id, of: archive.description)
      }
    case .letGo(let arrival): session.take(arrival.number)
    case .release(let arrivals): release(arrivals)
    case .retry(let delay):
      retryTimer = gate.scheduler.schedule(after: delay) { [weak self] in self?.retry() }
    case .gap(let gap): tellMissed("\(gap)")
    case .complete(let outcome): complete(outcome)
    }
  }

  private func release(_ arrivals: [Arrival]) {
    for arrival in arrivals { hand(on: arrival) }
    // Their rows were handed over before this.
    gate.write { _ throws(DatabaseError) in
    } done: { [weak self] in
      guard let self else { return }
      perform(machine?.stored() ?? [])
    }
  }

  private func ask(_ query: ArchiveQuery) {
    if isStopping { return }
    watchProgress()
    session.query(query, in: archive) { [weak self] result in
      // When the bot stops, results are passed over: where their page ends says nothing of what is here.
      guard let self, !isStopping, machine?.awaits(query.queryID) == true else { return }
      stallTimer = nil
      // What fails because the stream ended is asked for again on the next.
      if !session.isOnline { return interrupt() }
      perform(machine?.finished(result, of: query.queryID) ?? [])
    }
  }

  private func watchProgress() {
    isBusy = false
    stallTimer = gate.scheduler.schedule(after: Self.patience) { [weak self] in
      guard let self else { return }
      stallTimer = nil
      // Offline it says nothing anyhow, and the next stream asks again; nor do we hear it while we don't listen.
      guard session.isOnline else { return }
      // What came last may have been the answer to an older question.
      guard machine?.isAsking == true else { return }
      // On a narrow link the question itself may still be under way.
      if session.isReadingPaused || isBusy || session.isOutputBehind { return watchProgress() }
      // Another session hears us, and keeps the order.
      if isAccount, session.leaveIfDeaf() { return }
      perform(machine?.giveUp("it does not answer") ?? [])
    }
  }

  private func retry() {
    retryTimer = nil
    if session.isOnline { perform(machine?.retry() ?? []) } else { interrupt() }
  }

  private func interrupt() {
    machine?.lost()
    isInterrupted = true
  }

  private func complete(_ outcome: CatchUpOutcome) {
    machine = nil
    known = nil
    isUpToDate = outcome.movesCursor
    switch outcome {
    case .incomplete(let reason): if !isAbandoned { readLater(because: reason) }
    case .unavailable(let reason): if isOffered, !isAbandoned { readLater(because: reason) }
    case .upToDate: isLimitTold = false
    }
    tellFetched()
    guard isAwaited else { return }
    isAwaited = false
    onComplete()
  }

  private func readLater(because reason: String) {
    if isStopping { return }
    let wait = allowance.wait(now: gate.scheduler.now)
    if let wait {
      tellLimit(wait)
    } else if !isLimitTold {
      tellMissed("\(owner) was not read to its end (\(reason)); it is read again in ten minutes")
    }
    retryTimer = gate.scheduler.schedule(after: max(wait ?? .zero, Self.laterTime)) { [weak self] in self?.readAgain() }
  }

  /// Once, until it was read to its end: an archive that never ends would fill the log, too.
  private func tellLimit(_ wait: Duration) {
    if isLimitTold { return }
    isLimitTold = true
    tellMissed(
      "\(owner) has brought \(allowance.most) messages within 24 hours; it is read on in "
        + "\(wait.components.seconds / 60 + 1) minutes: if that is not what people write there, leave the room")
  }

  private func readAgain() {
    retryTimer = nil
    guard machine == nil else { return }
    guard session.isOnline else {
      retryTimer = gate.scheduler.schedule(after: Self.laterTime) { [weak self] in self?.readAgain() }
      return
    }
    hold()
    start(isOffered: true)
  }

  /// How many of the archive's messages were not here yet is known when they are stored.
  private func tellFetched() {
    gate.write { _ throws(DatabaseError) in
    } done: { [weak self] in
      guard let self, fetched > 0 else { return }
      log.log(.caughtUp, "fetched \(fetched) messages from \(owner)")
      fetched = 0
    }
  }

  private func tellMissed(_ reason: String) {
    log.log(.messagesMissed, "messages may have been missed while the bot was away: \(reason)")
  }
}
