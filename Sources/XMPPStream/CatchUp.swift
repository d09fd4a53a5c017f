import JID
import XMPPStanzas

/// Brings one archive's messages up to date, page after page from the last one that is known, and holds back live
/// messages meanwhile, so that all come in the archive's order (XEP-0313 section 6.3 leaves that to the client). Pure.
///
/// What is asked goes to the archive in the order `query`, `received` for each result, `finished`. Live messages may also
/// be on a page: the database knows them by their stanza-id, so they are released all the same.
///
/// `Held` is what the owner wants back for a live message.
public struct CatchUp<Held> {
  public enum Action {
    /// Send this to the archive, and let in its results.
    case query(ArchiveQuery)
    /// Store this message and, with it, its id as the new cursor.
    case archive(ArchivedMessage)
    /// Store this cursor: what was passed over needs no row.
    case setCursor(String)
    /// Take these messages now, in this order, and call `stored` once they are: more may wait for that.
    case release([Held])
    /// This live message will come from the archive: it needs no row now.
    case letGo(Held)
    /// Call `retry` after so long.
    case retry(after: Duration)
    /// Something may be missing; worth a line in the log.
    case gap(CatchUpGap)
    /// It is over; from now on live messages pass.
    case complete(CatchUpOutcome)
  }

  private enum State: Hashable {
    /// No stream.
    case idle
    case asking
    /// Will ask again when the time has come.
    case pausing
    /// All is read that will be. What was held goes on, a part at a time: each becomes rows that wait, too.
    case ending(CatchUpOutcome)
    case over
  }

  /// Whose archive. Bare.
  public let archive: JID
  private let pageSize: Int
  private let partSize: Int
  private let most: Int?

  private var state = State.idle
  /// The last message that is known; "" when there was none; nil before the first time.
  private var cursor: String?
  /// The time of the newest message that is known.
  private var newest: Int64?
  /// Set when the cursor is of no use any more.
  private var start: Int64?

  /// The cursor that is to be stored once what was held is: it may stand behind some of that.
  private var lastCursor: String?

  private var queryPrefix = ""
  private var query: ArchiveQuery?
  private var queries = 0
  /// The results of this page so far.
  private var page: (first: String, last: String)?
  /// Behind which ids was asked, so that going round in circles is noticed.
  private var asked: Set<String> = []
  /// Attempts in a row that brought nothing.
  private var failures = 0
  /// Streams in a row that ended before they brought anything.
  private var losses = 0
  private var gaps = 0
  /// Asked from a time on, because the archive forgot the cursor, and nothing has come yet.
  private var isBridging = false
  private var isUnstable = false
  private var archived = 0
  /// This page has brought a message.
  private var isFruitful = false
  /// What it took of `most`.
  private var taken = 0
  /// What is stamped later came after the beginning, and comes live.
  private var latest: Int64?
  /// The archive has answered: what it has may be let go here.
  private var hasAnswered = false

  private var held: HeldMessages<Held>
  /// The last live message that was not held but must come from the archive.
  private var owed: String?

  /// - Parameters:
  ///   - archive: our own account or a room.
  ///   - cursor: the id of the last message known of this archive; "" if it was empty; nil the first time, when nothing is
  ///     fetched and the newest id becomes the cursor.
  ///   - newest: when the archive took the newest message that is known, by its own clock if possible; for the case that
  ///     it no longer knows the cursor. Microseconds since 1970, UTC.
  ///   - heldCount, heldBytes: beyond these, live messages that the archive has are fetched from it instead of held.
  ///   - partSize: so many of those held go on at a time.
  ///   - most: after so many messages it ends, read to its end or not; a page that brings none counts as a full one. For
  ///     the archives of others, which may have no end. nil: no bound.
  public init(
    archive: JID, cursor: String?, newest: Int64? = nil, pageSize: Int = 100, heldCount: Int = 1_000,
    heldBytes: Int = 2 << 20, partSize: Int = 100, most: Int? = nil
  ) {
    self.archive = archive.bare
    self.cursor = cursor
    self.newest = newest
    self.pageSize = pageSize
    held = HeldMessages(most: (heldCount, heldBytes))
    self.partSize = partSize
    self.most = most
  }

  public var isOver: Bool { state == .over }
  /// A question has no answer yet.
  public var isAsking: Bool { state == .asking }

  /// The stream is there, for the first time or again.
  /// - Parameters:
  ///   - queryID: a text that nobody can guess; each query's id begins with it.
  ///   - now: a result that is stamped much later ends it, unread: an archive that brings forth new messages for as long as
  ///     it is read has no end. nil: stamps are not looked at, since clocks may differ. Microseconds since 1970, UTC.
  public mutating func start(queryID: String, now: Int64? = nil) -> [Action] {
    guard state != .over else { return [] }
    latest = now.map { $0 + Self.overlap }
    guard losses < Self.maximumLosses else { return end(.incomplete("the stream ends each time that it answers")) }
    queryPrefix = queryID
    failures = 0
    return ask()
  }

  /// Before `start`: it is read from this id on, though what is behind it was read before. The database knows what comes
  /// twice.
  public mutating func rewind(to id: String) {
    guard cursor != nil, state == .idle else { return }
    cursor = id
    // The pages that were read on an earlier stream come again.
    asked = []
  }

  /// The stream is gone: what was asked must be asked anew, after `start`. Held messages stay.
  public mutating func lost() {
    guard state != .over else { return }
    if state == .asking { losses += 1 }
    state = .idle
    query = nil
  }

  /// The time of `Action.retry` has come.
  public mutating func retry() -> [Action] {
    state == .pausing ? ask() : []
  }

  /// There is nobody to ask, or no answer.
  public mutating func giveUp(_ reason: String) -> [Action] {
    guard state != .over, !isEnding else { return [] }
    return end(hasAnswered ? .incomplete(reason) : .unavailable(reason))
  }

  /// A live message that the gate let in.
  /// - Parameters:
  ///   - stanzaID: the trusted id that this archive gave to it, if any.
  ///   - size: what it takes in memory, in bytes.
  public mutating func live(_ item: Held, stanzaID: String?, size: Int) -> [Action] {
    guard state != .over else { return [.release([item])] }
    // None overtakes it: nothing is released before a page has brought it. Where nothing is fetched, none will.
    if held.isFull(for: size), hasAnswered, !isEnding, cursor != nil, let stanzaID {
      owed = stanzaID
      return [.letGo(item)]
    }
    // Memory is bounded whatever comes: what the archive won't bring passes before its turn.
    if held.isStuffed(for: size) { return [.release([item])] }
    held.append(item, stanzaID: stanzaID, size: size)
    return []
  }

  /// What was released is stored.
  public mutating func stored() -> [Action] {
    guard case .ending(let outcome) = state else { return [] }
    return end(outcome)
  }

  /// A result that the gate let in.
  public mutating func received(_ message: ArchivedMessage) -> [Action] {
    guard state == .asking, let query, message.queryID == query.queryID, message.archive == archive else { return [] }
    page = (page?.first ?? message.id, message.id)
    // The first time, all that counts is where the archive ends.
    guard cursor != nil else { return [] }
    // Before its message counts: that may be one of those let go.
    let letGo = answered()
    if let latest, let stamp = message.stamp, stamp > latest {
      return letGo + end(.incomplete("it has messages from after the reading began"))
    }
    cursor = message.id
    lastCursor = nil
    if owed == message.id { owed = nil }
    isBridging = false
    losses = 0
    archived += 1
    newest = [newest, message.stamp].compactMap(\.self).max()
    taken += 1
    isFruitful = true
    // One that pays no heed to the size of a page would go on here without end.
    return letGo + [.archive(message)] + (isTooMuch ? end(.incomplete(tooMuch)) : [])
  }

  /// Whether this query is the one that has no answer yet.
  public func awaits(_ queryID: String) -> Bool { state == .asking && query?.queryID == queryID }

  /// The answer to a query. One to a query before the last says where a page ends that was passed over, so it counts for
  /// nothing: such a query goes out once more when its stream is resumed (XEP-0198).
  public mutating func finished(_ result: Result<ArchiveFin, StanzaError>, of queryID: String) -> [Action] {
    guard awaits(queryID), let query else { return [] }
    self.query = nil
    switch result {
    case .success(let fin):
      let letGo = answered()
      if !isFruitful { taken += pageSize }
      return letGo + unstable(fin) + (cursor == nil ? begin(fin) : turn(fin))
    case .failure(let error): return failed(error, isBehind: query.page.after != nil)
    }
  }

  /// The archive tells what it has: live messages beyond the limit that came before that need not be held any longer.
  private mutating func answered() -> [Action] {
    guard !hasAnswered else { return [] }
    hasAnswered = true
    guard cursor != nil else { return [] }
    let shed = held.shed()
    owed = shed.last
    return shed.items.map(Action.letGo)
  }

  // MARK: - Pages

  private var isTooMuch: Bool { most.map { taken >= $0 } ?? false }
  private var tooMuch: String { "it has more than \(most ?? 0) messages" }

  private mutating func ask() -> [Action] {
    guard queries < Self.maximumQueries else { return end(.incomplete("it goes on for too long")) }
    guard !isTooMuch else { return end(.incomplete(tooMuch)) }
    queries += 1
    page = nil
    isFruitful = false
    var part = ResultSet(max: pageSize)
    switch cursor {
    case nil: part = ResultSet(max: 1, before: "")
    case "": break
    case let id?:
      part.after = id
      asked.insert(id)
    }
    let query = ArchiveQuery(queryID: "\(queryPrefix)-\(queries)", start: start, page: part)
    self.query = query
    state = .asking
    return [.query(query)]
  }

  /// The first time: what the archive holds was there before us.
  private mutating func begin(_ fin: ArchiveFin) -> [Action] {
    let newest = fin.page.last ?? page?.last ?? ""
    cursor = newest
    isBridging = false
    lastCursor = newest
    return arrive(hasProgress: true)
  }

  private mutating func turn(_ fin: ArchiveFin) -> [Action] {
    // The gate may have passed over the last result, or all of them.
    guard let last = fin.page.last ?? page?.last else { return arrive(hasProgress: false) }
    if let page, page.first == last, page.last != last { return end(.incomplete("its pages come in reverse order")) }
    let hasProgress = !asked.contains(last)
    guard hasProgress || fin.isComplete else { return end(.incomplete("it says the same again and again")) }
    var actions: [Action] = []
    if hasProgress {
      failures = 0
      losses = 0
      isBridging = false
      if owed == last { owed = nil }
      if last != cursor {
        cursor = last
        lastCursor = nil
        actions.append(.setCursor(last))
      }
    }
    return actions + (fin.isComplete ? arrive(hasProgress: hasProgress) : ask())
  }

  /// The archive says that this is all.
  private mutating func arrive(hasProgress: Bool) -> [Action] {
    if isBridging, owed == nil {
      // Nothing came since then. Where the archive ends, it can still say; an empty one ends at its beginning.
      guard start == nil else {
        start = nil
        cursor = nil
        return ask()
      }
      lastCursor = ""
      return end(.upToDate(archived: archived))
    }
    guard owed != nil else { return end(.upToDate(archived: archived)) }
    // What was let go here is not on a page yet: it came after the query, or the archive is a little late.
    return hasProgress ? ask() : pause(because: "messages that came live are not in it")
  }

  private var isEnding: Bool { if case .ending = state { true } else { false } }

  private mutating func end(_ outcome: CatchUpOutcome) -> [Action] {
    query = nil
    // More, where so many come that small parts would never end.
    let part = held.removeFirst(max(partSize, held.count / 4))
    state = held.isEmpty ? .over : .ending(outcome)
    var actions = part.isEmpty ? [] : [Action.release(part)]
    guard isOver else { return actions }
    if let lastCursor { actions.append(.setCursor(lastCursor)) }
    return actions + [.complete(outcome)]
  }

  // MARK: - What goes wrong

  private mutating func failed(_ error: StanzaError, isBehind: Bool) -> [Action] {
    if error.kind == .wait || error.condition == .internalServerError { return pause(because: error.description) }
    if error.condition == .itemNotFound, isBehind { return bridge() }
    return end(hasAnswered ? .incomplete(error.description) : .unavailable(error.description))
  }

  /// The archive no longer knows the cursor: what it has from a little before the newest message on is asked for instead.
  /// The database knows what comes twice.
  private mutating func bridge() -> [Action] {
    gaps += 1
    guard gaps <= Self.maximumGaps else { return end(.incomplete("it forgets faster than it tells")) }
    cursor = ""
    asked = []
    isBridging = true
    start = newest.map { max(0, $0 - Self.overlap) }
    return [.gap(.forgotten(since: start))] + ask()
  }

  private mutating func pause(because reason: String) -> [Action] {
    failures += 1
    guard failures <= Self.maximumFailures else { return end(.incomplete(reason)) }
    state = .pausing
    return [.retry(after: .seconds(1 << (failures - 1)))]
  }

  private mutating func unstable(_ fin: ArchiveFin) -> [Action] {
    guard !fin.isStable, !isUnstable else { return [] }
    isUnstable = true
    return [.gap(.unstable)]
  }

  /// A million messages of a hundred on a page.
  private static var maximumQueries: Int { 10_000 }
  private static var maximumGaps: Int { 3 }
  private static var maximumLosses: Int { 5 }
  /// The last pause is 16 seconds.
  private static var maximumFailures: Int { 5 }
  /// Microseconds: how far clocks and the order of arrival may be apart.
  private static var overlap: Int64 { 600_000_000 }
}
