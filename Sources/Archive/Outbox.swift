import SQLite

/// Messages of ours that wait until the bot is online.
extension ArchiveQueries {
  /// Those that are queued, oldest first, at most `limit`.
  public func queued(limit: Int) throws(DatabaseError) -> [MessageRow] {
    let rows = try connection.statement(MessageColumns.queued)
    defer { rows.reset() }
    try rows.bind(Int64(limit), at: 1)
    var found: [MessageRow] = []
    while try rows.step() { found.append(MessageColumns.read(rows)) }
    return found
  }

  /// How many are queued.
  public func queuedCount() throws(DatabaseError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM message WHERE state = 'queued'"))
  }
}

extension ArchiveTransaction {
  /// The message of ours with this id was not sent after all: it waits again.
  public func requeue(messageID: String) throws(DatabaseError) {
    let update = try statement(
      "UPDATE message SET state = 'queued' WHERE origin_id = ? AND direction = 'out' AND state = 'sent'")
    try update.bind(messageID, at: 1)
    try update.run()
  }

  /// What came back from `peer` for the message of ours with this id was an error. Whether there was such a message:
  /// nobody can make another's fail.
  public func fail(messageID: String, peer: String, error: String) throws(DatabaseError) -> Bool {
    let update = try statement(
      """
      UPDATE message SET state = 'failed', error = ?3
      WHERE origin_id = ?1 AND direction = 'out' AND peer = ?2 AND state IN ('queued', 'sent', 'acked')
      """)
    try update.bind(messageID, at: 1)
    try update.bind(peer, at: 2)
    try update.bind(error, at: 3)
    try update.run()
    return connection.changes > 0
  }
}
