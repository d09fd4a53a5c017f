import SQLite

/// The deletion of old messages, step by step; a value that says how far it has come. What still waits to be sent, and
/// what a command is still to answer, is kept however old it is.
public struct Prune: Sendable, Hashable {
  /// Messages that the daemon received or accepted before this moment go: microseconds since 1970, UTC.
  public let before: Int64
  public private(set) var deleted = 0
  /// Old messages that are still needed.
  public private(set) var kept = 0
  public private(set) var isDone = false
  /// The last message that was looked at.
  private var position: Int64 = 0
  /// The newest message when it began.
  private var newest: Int64 = 0

  /// Parts of a hundred that are done.
  public var percent: Int { isDone ? 100 : Int(100 * position / max(1, newest)) }

  /// What one step may cost, since messages wait for it: rows looked at, rows deleted, bytes taken out of the index.
  private static let limit = (rows: 2_000, deletions: 100, bytes: 128 * 1024)

  public init(before: Int64) { self.before = before }

  private struct Old {
    let id: Int64
    let subject: String?
    let body: String?
  }

  /// Does the next step.
  fileprivate mutating func advance(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) {
    if newest == 0 { newest = try transaction.queries.newestID() }
    let old = try find(transaction)
    let indexed = try transaction.queries.indexedUpTo()
    for row in old {
      if row.id <= indexed { try Indexer.remove(row.id, subject: row.subject, body: row.body, transaction) }
      let delete = try transaction.statement("DELETE FROM message WHERE id = ?")
      try delete.bind(row.id, at: 1)
      try delete.run()
    }
    deleted += old.count
  }

  /// The next messages that go.
  private mutating func find(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) -> [Old] {
    var old: [Old] = []
    var seen = 0
    var bytes = 0
    // Not by time: there is no list by it, and the order of arrival is almost the same.
    let isOpen = try transaction.openCommands()
    let rows = try transaction.statement(
      "SELECT id, time, subject, body, state = 'queued' OR state = 'sent' FROM message WHERE id > ? ORDER BY id LIMIT ?"
    )
    defer { rows.reset() }
    try rows.bind(position, at: 1)
    try rows.bind(Int64(Prune.limit.rows), at: 2)
    while old.count < Prune.limit.deletions, bytes < Prune.limit.bytes, try rows.step() {
      seen += 1
      position = rows.integer(at: 0)
      guard rows.integer(at: 1) < before else { continue }
      if rows.integer(at: 4) != 0 || isOpen.contains(position) {
        kept += 1
        continue
      }
      let found = Old(id: position, subject: rows.optionalText(at: 2), body: rows.optionalText(at: 3))
      bytes += (found.subject?.utf8.count ?? 0) + (found.body?.utf8.count ?? 0)
      old.append(found)
    }
    isDone = seen < Prune.limit.rows && old.count < Prune.limit.deletions && bytes < Prune.limit.bytes
    return old
  }
}

extension ArchiveTransaction {
  /// Does one step of `prune`; gives where it is then.
  public func advance(_ prune: Prune) throws(DatabaseError) -> Prune {
    var next = prune
    try next.advance(self)
    return next
  }

  /// Messages whose command has not ended.
  fileprivate func openCommands() throws(DatabaseError) -> Set<Int64> {
    var open: Set<Int64> = []
    try statement("SELECT message FROM command WHERE finished IS NULL").forEachRow { open.insert($0.integer(at: 0)) }
    return open
  }
}

extension Archive {
  /// Deletes old messages, in small transactions between which others are served. `goesOn` is asked after each, where
  /// completions are delivered.
  public func prune(
    _ prune: Prune, goesOn: @escaping @Sendable (Prune) -> Bool = { _ in true },
    completion: @escaping @Sendable (Result<Prune, ArchiveError>) -> Void
  ) {
    write { transaction throws(DatabaseError) in
      try transaction.advance(prune)
    } completion: { [weak self] result in
      switch result {
      case .success(let next) where !next.isDone && goesOn(next):
        guard let self else { return completion(.failure(.closed)) }
        self.prune(next, goesOn: goesOn, completion: completion)
      case let end: completion(end)
      }
    }
  }

  /// Bytes in the file that are free to be used again.
  public func readFreeSpace(_ completion: @escaping @Sendable (Result<Int64, ArchiveError>) -> Void) {
    read({ queries throws(DatabaseError) in try queries.freeSize() }, completion: completion)
  }
}

extension ArchiveQueries {
  /// Bytes in the file that are free to be used again.
  func freeSize() throws(DatabaseError) -> Int64 {
    try connection.integer("PRAGMA freelist_count") * connection.integer("PRAGMA page_size")
  }
}
