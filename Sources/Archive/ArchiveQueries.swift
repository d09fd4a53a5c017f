import SQLite

/// Reading the archive. Valid only while the work runs that it was given to.
public struct ArchiveQueries: ~Copyable {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  public func message(id: Int64) throws(DatabaseError) -> MessageRow? {
    let row = try connection.statement(MessageColumns.byID)
    defer { row.reset() }
    try row.bind(id, at: 1)
    return try row.step() ? MessageColumns.read(row) : nil
  }

  public func meta(_ key: MetaKey) throws(DatabaseError) -> String? {
    let row = try connection.statement("SELECT value FROM meta WHERE key = ?")
    defer { row.reset() }
    try row.bind(key.rawValue, at: 1)
    return try row.step() ? row.text(at: 0) : nil
  }

  /// The id of the newest message; 0 when there is none.
  public func newestID() throws(DatabaseError) -> Int64 {
    try connection.integer("SELECT max(id) FROM message")
  }

  /// The newest time that is stamped upon a message, of the last 10,000 rows: microseconds since 1970, UTC. Senders may have
  /// stamped it, so it is no later than we had it.
  public func newestStamp() throws(DatabaseError) -> Int64? {
    let row = try connection.statement(
      "SELECT max(min(delay, time)) FROM message WHERE id > (SELECT max(id) FROM message) - 10000")
    defer { row.reset() }
    return try row.step() ? row.optionalInteger(at: 0) : nil
  }

  /// When the newest message that came was sent, as far as is known: microseconds since 1970, UTC.
  public func newestArrival() throws(DatabaseError) -> Int64? {
    let row = try connection.statement(
      """
      SELECT max(min(ifnull(delay, time), time)) FROM message
      WHERE direction = 'in' AND id > (SELECT max(id) FROM message) - 10000
      """)
    defer { row.reset() }
    return try row.step() ? row.optionalInteger(at: 0) : nil
  }

  /// The id of the last message in the full-text index.
  func indexedUpTo() throws(DatabaseError) -> Int64 {
    try meta(.indexedUpTo).flatMap { Int64($0) } ?? 0
  }

  /// The whole roster, by JID.
  public func roster() throws(DatabaseError) -> [RosterEntry] {
    var entries: [RosterEntry] = []
    let rows = try connection.statement(
      """
      SELECT roster.jid, roster.name, subscription, ask, roster_group.name
      FROM roster LEFT JOIN roster_group USING (jid) ORDER BY roster.jid, roster_group.name
      """)
    try rows.forEachRow { row in
      let jid = row.text(at: 0)
      if entries.last?.jid != jid {
        let subscription = RosterEntry.Subscription(rawValue: row.text(at: 2)) ?? .none
        entries.append(
          RosterEntry(
            jid: jid, name: row.optionalText(at: 1), subscription: subscription, ask: row.integer(at: 3) != 0))
      }
      if let group = row.optionalText(at: 4) { entries[entries.count - 1].groups.append(group) }
    }
    return entries
  }
}
