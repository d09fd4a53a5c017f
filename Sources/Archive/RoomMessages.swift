import SQLite

/// What is said in rooms (XEP-0045): everybody there gets it, and so do we what we say.
extension ArchiveQueries {
  /// When the newest message is from that came from `room`: microseconds since 1970, UTC; nil: none did. A stamp may be a speaker's
  /// own: none is later than the message came, and one that is earlier counts for nothing beside the others of late.
  public func newestTime(in room: String) throws(DatabaseError) -> Int64? {
    let row = try connection.statement(
      """
      SELECT max(min(ifnull(delay, time), time)) FROM (
        SELECT delay, time FROM message WHERE room = ? AND direction = 'in' ORDER BY id DESC LIMIT 50)
      """)
    defer { row.reset() }
    try row.bind(room, at: 1)
    return try row.step() ? row.optionalInteger(at: 0) : nil
  }

  /// How much waits to be said, by the room that it waits for.
  public func queuedByRoom() throws(DatabaseError) -> [String: Int] {
    let rows = try connection.statement(
      """
      SELECT room, count(*) FROM message INDEXED BY message_queued
      WHERE state = 'queued' AND room IS NOT NULL GROUP BY room
      """)
    defer { rows.reset() }
    var counts: [String: Int] = [:]
    while try rows.step() { counts[rows.text(at: 0)] = Int(rows.integer(at: 1)) }
    return counts
  }

  /// The rooms for which something waits to be said.
  public func roomsWithQueued() throws(DatabaseError) -> [String] {
    let rows = try connection.statement(
      "SELECT DISTINCT room FROM message WHERE state IN ('queued', 'sent') AND direction = 'out' AND room IS NOT NULL")
    defer { rows.reset() }
    var rooms: [String] = []
    while try rows.step() { rooms.append(rows.text(at: 0)) }
    return rooms
  }
}

extension ArchiveTransaction {
  /// `room` shows a message under our id. Whether it is one of ours, which is then `received`, and has the room's id of it.
  /// `nick`: who said it, if that was not seen to be us; then it has to be the nickname under which ours was sent, since nobody
  /// can speak for another.
  public func reflect(
    _ originID: String, room: String, nick: String?, stanzaID: NewMessage.StanzaID?
  ) throws(DatabaseError) -> Bool {
    let find = try statement(
      """
      SELECT id, stanza_id IS NOT NULL FROM message INDEXED BY message_out
      WHERE direction = 'out' AND state IN ('queued', 'sent', 'acked', 'received', 'displayed', 'failed')
        AND origin_id = ?1 AND room = ?2 AND (?3 IS NULL OR nick = ?3) AND kind = 'groupchat' LIMIT 1
      """)
    defer { find.reset() }
    try find.bind(originID, at: 1)
    try find.bind(room, at: 2)
    try find.bind(nick, at: 3)
    guard try find.step() else { return false }
    let (id, hasStanzaID) = (find.integer(at: 0), find.integer(at: 1) != 0)
    let update = try statement(
      "UPDATE message SET state = 'received', error = NULL WHERE id = ? AND state <> 'displayed'")
    try update.bind(id, at: 1)
    try update.run()
    guard let stanzaID, !hasStanzaID else { return true }
    // Another row may have it, of a message that came before ours was known.
    let name = try statement("UPDATE OR IGNORE message SET stanza_id = ?, stanza_id_by = ? WHERE id = ?")
    try name.bind(stanzaID.id, at: 1)
    try name.bind(stanzaID.by, at: 2)
    try name.bind(id, at: 3)
    try name.run()
    return true
  }

  /// Under this nickname the message of ours was sent.
  public func setNick(_ nick: String, ofMessage id: Int64) throws(DatabaseError) {
    let update = try statement("UPDATE message SET nick = ? WHERE id = ?")
    try update.bind(nick, at: 1)
    try update.bind(id, at: 2)
    try update.run()
  }

  /// What waits to be said in `room` is not said any more, for the reason that `error` tells. How many messages that were.
  @discardableResult
  public func giveUp(room: String, error: String) throws(DatabaseError) -> [String] {
    let find = try statement(
      "SELECT origin_id FROM message WHERE state = 'queued' AND room = ? AND origin_id IS NOT NULL")
    var ids: [String] = []
    do {
      defer { find.reset() }
      try find.bind(room, at: 1)
      while try find.step() { ids.append(find.text(at: 0)) }
    }
    let update = try statement("UPDATE message SET state = 'failed', error = ?2 WHERE state = 'queued' AND room = ?1")
    try update.bind(room, at: 1)
    try update.bind(error, at: 2)
    try update.run()
    return ids
  }
}
