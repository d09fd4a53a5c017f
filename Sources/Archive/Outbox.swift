import SQLite

/// Messages of ours on their way: `queued`, then `sent`, then `acked`. `message_out` has them by state and origin-id.
extension ArchiveQueries {
  /// Those that are queued, oldest first, at most `limit`; of those that go to rooms, or through them, only what goes to `rooms`.
  public func queued(limit: Int, rooms: [String] = []) throws(DatabaseError) -> [MessageRow] {
    let rows = try connection.statement(MessageColumns.queued)
    defer { rows.reset() }
    try rows.bind(Int64(limit), at: 1)
    try rows.bind("[" + rooms.map(Self.json).joined(separator: ",") + "]", at: 2)
    var found: [MessageRow] = []
    while try rows.step() { found.append(MessageColumns.read(rows)) }
    return found
  }

  /// An address as JSON: it may hold a backslash, but neither a quotation mark nor control characters.
  private static func json(_ address: String) -> String {
    "\"" + address.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\") + "\""
  }

  /// How many are queued.
  public func queuedCount() throws(DatabaseError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM message WHERE state = 'queued'"))
  }

  /// How many were sent and are not acknowledged.
  public func sentCount() throws(DatabaseError) -> Int {
    Int(
      try connection.integer(
        "SELECT count(*) FROM message INDEXED BY message_out WHERE direction = 'out' AND state = 'sent'"))
  }
}

extension ArchiveTransaction {
  /// The server has the messages of ours with these ids. What has come further, or has failed, stays so.
  public func acknowledge(_ originIDs: [String]) throws(DatabaseError) {
    let update = try statement(
      """
      UPDATE message INDEXED BY message_out SET state = 'acked'
      WHERE direction = 'out' AND state IN ('queued', 'sent') AND origin_id = ?
      """)
    for id in originIDs {
      try update.bind(id, at: 1)
      try update.run()
    }
  }

  /// The server has the message of ours with this id, and all that were sent before it.
  public func acknowledge(upTo originID: String) throws(DatabaseError) {
    let update = try statement(
      """
      UPDATE message INDEXED BY message_out SET state = 'acked'
      WHERE direction = 'out' AND state = 'sent' AND id <= (
        SELECT id FROM message INDEXED BY message_out
        WHERE direction = 'out' AND state IN ('queued', 'sent', 'acked', 'received', 'displayed', 'failed') AND origin_id = ?)
      """)
    try update.bind(originID, at: 1)
    try update.run()
  }

  /// `peer`'s client says that the message of ours with this id was `received` or `displayed`. Only forwards, and only of a
  /// message to this peer, in a room to this occupant (`nick`): nobody can speak for another, nor anybody for all. Whether it
  /// made a difference.
  @discardableResult
  public func advance(
    _ originID: String, peer: String, nick: String? = nil, to state: NewMessage.State
  ) throws(DatabaseError) -> Bool {
    guard state == .received || state == .displayed else { return false }
    let update = try statement(
      """
      UPDATE message INDEXED BY message_out SET state = ?3
      WHERE direction = 'out' AND state IN ('queued', 'sent', 'acked', 'received') AND state <> ?3
        AND origin_id = ?1 AND peer = ?2 AND (room IS NULL OR resource = ?4)
      """)
    try update.bind(originID, at: 1)
    try update.bind(peer, at: 2)
    try update.bind(state.rawValue, at: 3)
    try update.bind(nick, at: 4)
    try update.run()
    return connection.changes > 0
  }

  /// The message of ours with this id is not sent any more, for the reason that `error` tells.
  public func setAside(_ originID: String, error: String) throws(DatabaseError) {
    let update = try statement(
      """
      UPDATE message INDEXED BY message_out SET state = 'failed', error = ?2
      WHERE direction = 'out' AND state IN ('queued', 'sent') AND origin_id = ?1
      """)
    try update.bind(originID, at: 1)
    try update.bind(error, at: 2)
    try update.run()
  }

  /// Everything that was sent and not acknowledged waits again. How many messages are queued now, with those.
  public func requeueSent() throws(DatabaseError) -> Int {
    try statement(
      "UPDATE message INDEXED BY message_out SET state = 'queued' WHERE direction = 'out' AND state = 'sent'"
    ).run()
    return try queries.queuedCount()
  }

  /// The message of ours with this id was not sent after all: it waits again.
  public func requeue(messageID: String) throws(DatabaseError) {
    let update = try statement(
      """
      UPDATE message INDEXED BY message_out SET state = 'queued'
      WHERE direction = 'out' AND state = 'sent' AND origin_id = ?
      """)
    try update.bind(messageID, at: 1)
    try update.run()
  }

  /// What came back from `peer` for the message of ours with this id was an error. Whether there was such a message:
  /// nobody can make another's fail. `nick`: of the occupant who sent it; nil where it was the room itself.
  public func fail(messageID: String, peer: String, nick: String? = nil, error: String) throws(DatabaseError) -> Bool {
    let update = try statement(
      """
      UPDATE message INDEXED BY message_out SET state = 'failed', error = ?3
      WHERE direction = 'out' AND state IN ('queued', 'sent', 'acked') AND origin_id = ?1 AND peer = ?2
        AND (room IS NULL OR ?4 IS NULL OR resource = ?4)
      """)
    try update.bind(messageID, at: 1)
    try update.bind(peer, at: 2)
    try update.bind(error, at: 3)
    try update.bind(nick, at: 4)
    try update.run()
    return connection.changes > 0
  }
}
