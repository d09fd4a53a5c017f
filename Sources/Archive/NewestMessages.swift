import SQLite

/// Where the newest messages are, by peer and id, at one moment.
///
/// An index of the table would cost every message a page; this costs one look at the newest rows, when a message comes that
/// may have come before. Thousands of those come at once, or none.
struct NewestMessages {
  /// Rows of the table that it covers.
  static let reach: Int64 = 10_000

  /// The newest row when it was made.
  let last: Int64
  /// Rows by the hash of peer and id, oldest first.
  private var rows: [Int: [Int64]] = [:]

  init(_ queries: borrowing ArchiveQueries) throws(DatabaseError) {
    last = try queries.newestID()
    let found = try queries.connection.statement(
      "SELECT id, peer, message_id FROM message WHERE id > ? AND message_id IS NOT NULL ORDER BY id"
    )
    defer { found.reset() }
    try found.bind(last - NewestMessages.reach, at: 1)
    while try found.step() {
      rows[NewestMessages.key(found.text(at: 1), found.text(at: 2)), default: []].append(found.integer(at: 0))
    }
  }

  /// The rows that may be of this peer and id, oldest first; to be looked at, since hashes can be equal. Of a peer that gives
  /// everything the same id, not all.
  func candidates(peer: String, messageID: String) -> ArraySlice<Int64> {
    rows[NewestMessages.key(peer, messageID), default: []].suffix(100)
  }

  private static func key(_ peer: String, _ messageID: String) -> Int {
    var hasher = Hasher()
    hasher.combine(peer)
    hasher.combine(messageID)
    return hasher.finalize()
  }
}
