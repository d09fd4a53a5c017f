import SQLite

/// Fills the full-text index behind the messages, when the thread has time: in the transaction of the message it would
/// cost more than the message itself.
struct Indexer {
  /// The last message in the index.
  private(set) var indexed: Int64
  /// The newest message.
  private(set) var newest: Int64

  /// Where a batch ends, about 10 ms. Each batch becomes a segment of the index, which is merged with others later: many small
  /// ones cost ten times as much as a few large ones.
  static let batchRows = 4_096
  static let batchBytes = 512 * 1024

  init(_ queries: borrowing ArchiveQueries) throws(DatabaseError) {
    indexed = try queries.indexedUpTo()
    newest = try queries.newestID()
  }

  /// Messages to index, at most.
  var backlog: Int64 { newest - indexed }

  mutating func noteNewest(_ queries: borrowing ArchiveQueries) throws(DatabaseError) {
    newest = try queries.newestID()
  }

  /// Indexes the next messages in a transaction, with the mark that says how far it has come. Goes on after `minimum`
  /// messages only until `shouldStop` or a batch is full.
  mutating func indexBatch(
    _ connection: Connection, minimum: Int, shouldStop: () -> Bool
  ) throws(DatabaseError) {
    let from = indexed
    indexed = try connection.transaction { () throws(DatabaseError) in
      let last = try Indexer.copyText(connection, into: .archive, after: from, minimum: minimum, shouldStop)
      // A batch that reached the end stands at the newest message, or at one that was deleted since.
      let mark = last ?? newest
      try ArchiveTransaction(connection, group: GroupState()).setMeta(.indexedUpTo, to: String(mark))
      return mark
    }
  }

  /// Takes a message out of the index. The engine keeps no text, so it is told again what it was given.
  static func remove(
    _ id: Int64, subject: String?, body: String?, _ transaction: borrowing ArchiveTransaction
  ) throws(DatabaseError) {
    guard subject != nil || body != nil else { return }
    let delete = try transaction.statement(
      "INSERT INTO message_text (message_text, rowid, subject, body) VALUES ('delete', ?, ?, ?)")
    try delete.bind(id, at: 1)
    try delete.bind(subject.map(Segmenter.index), at: 2)
    try delete.bind(body.map(Segmenter.index), at: 3)
    try delete.run()
  }

  /// Empties the index, whatever is in it.
  mutating func clear(_ connection: Connection) throws(DatabaseError) {
    try connection.transaction { () throws(DatabaseError) in
      try connection.execute("INSERT INTO message_text (message_text) VALUES ('delete-all')")
      try ArchiveTransaction(connection, group: GroupState()).setMeta(.indexedUpTo, to: nil)
    }
    indexed = 0
  }

  enum Target { case archive, tail }

  /// Segments the text of messages after `after` into an index; gives the id of the last one, nil if there was none.
  static func copyText(
    _ connection: Connection, into target: Target, after: Int64, minimum: Int, _ shouldStop: () -> Bool
  ) throws(DatabaseError) -> Int64? {
    let rows = try connection.statement("SELECT id, subject, body FROM message WHERE id > ? ORDER BY id")
    defer { rows.reset() }
    try rows.bind(after, at: 1)
    let insert = try connection.statement(
      target == .archive
        ? "INSERT INTO message_text (rowid, subject, body) VALUES (?, ?, ?)"
        : "INSERT INTO temp.tail_text (rowid, subject, body) VALUES (?, ?, ?)")
    var last: Int64?
    var count = 0
    var bytes = 0
    while try rows.step() {
      let id = rows.integer(at: 0)
      let subject = rows.optionalText(at: 1)
      let body = rows.optionalText(at: 2)
      if subject != nil || body != nil {
        try insert.bind(id, at: 1)
        try insert.bind(subject.map(Segmenter.index), at: 2)
        try insert.bind(body.map(Segmenter.index), at: 3)
        try insert.run()
      }
      last = id
      count += 1
      bytes += (subject?.utf8.count ?? 0) + (body?.utf8.count ?? 0)
      if count >= minimum, shouldStop() || count >= batchRows || bytes >= batchBytes { break }
    }
    return last
  }
}
