import SQLite

/// Messages of ours that wait until the bot is online.
extension ArchiveQueries {
  /// Those that are queued, oldest first, as many as can be sent in one go.
  public func queued(limit: Int = 500) throws(DatabaseError) -> [MessageRow] {
    let rows = try connection.statement(MessageColumns.queued)
    defer { rows.reset() }
    try rows.bind(Int64(limit), at: 1)
    var found: [MessageRow] = []
    while try rows.step() { found.append(MessageColumns.read(rows)) }
    return found
  }
}

extension ArchiveTransaction {
  /// The message of ours with this id was not sent after all: it waits again.
  public func requeue(messageID: String) throws(DatabaseError) {
    try setState("UPDATE message SET state = 'queued' WHERE origin_id = ? AND state = 'sent'", messageID, nil)
  }

  /// What came back for the message of ours with this id was an error.
  public func fail(messageID: String, error: String) throws(DatabaseError) {
    try setState(
      "UPDATE message SET error = ?2, state = 'failed' WHERE origin_id = ?1 AND direction = 'out'", messageID, error)
  }

  private func setState(_ sql: StaticString, _ id: String, _ error: String?) throws(DatabaseError) {
    let update = try queries.connection.statement(sql)
    try update.bind(id, at: 1)
    if let error { try update.bind(error, at: 2) }
    try update.run()
  }
}
