import SQLite

/// What a write may do, inside the transaction of its group. Valid only while the work runs.
public struct ArchiveTransaction: ~Copyable {
  /// Reading, with what this transaction has written so far.
  public let queries: ArchiveQueries
  let connection: Connection
  let group: GroupState

  init(_ connection: Connection, group: GroupState) {
    self.connection = connection
    self.group = group
    queries = ArchiveQueries(connection)
  }

  public enum Insertion: Sendable, Hashable {
    case inserted(id: Int64)
    /// The message is there already, with its stanza-id if it has one; nothing was added.
    case duplicate
    /// The message was there already as this row, which has its stanza-id now; nothing was added (`insertArchived`).
    case recognised(id: Int64)
  }

  /// Adds what came live, or is to be sent, unless it is there already: by its stanza-id; or by sender, id and text where
  /// the server kept it back and gives it again without a stanza-id, since it does not know that we have it.
  @discardableResult
  public func insert(_ message: NewMessage) throws(DatabaseError) -> Insertion {
    if message.mayComeAgain, try hasTwin(message) { return .duplicate }
    return try add(message)
  }

  func add(_ message: NewMessage) throws(DatabaseError) -> Insertion {
    let row = try statement(MessageColumns.insert)
    try MessageColumns.bind(message, to: row)
    try row.run()
    return connection.changes == 0 ? .duplicate : .inserted(id: connection.lastInsertedRowID)
  }

  /// Says how far message `id` has come; `error` says why it failed.
  public func setState(_ state: NewMessage.State, ofMessage id: Int64, error: String? = nil) throws(DatabaseError) {
    let update = try statement("UPDATE message SET state = ?, error = ? WHERE id = ?")
    try update.bind(state.rawValue, at: 1)
    try update.bind(error, at: 2)
    try update.bind(id, at: 3)
    try update.run()
  }

  /// Remembers `value`, or forgets the key if it is nil.
  public func setMeta(_ key: MetaKey, to value: String?) throws(DatabaseError) {
    guard let value else {
      let delete = try statement("DELETE FROM meta WHERE key = ?")
      try delete.bind(key.rawValue, at: 1)
      return try delete.run()
    }
    let set = try statement("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    try set.bind(key.rawValue, at: 1)
    try set.bind(value, at: 2)
    try set.run()
  }

  /// Every statement passes here: if an error has ended the transaction under a work that went on all the same, no
  /// statement may run on its own outside it.
  func statement(_ sql: StaticString) throws(DatabaseError) -> Statement {
    guard connection.isInTransaction else {
      throw DatabaseError(
        code: .abort, message: "an earlier error ended the transaction", path: connection.path,
        operation: sql.description)
    }
    return try connection.statement(sql)
  }
}

// The roster.
extension ArchiveTransaction {
  /// Replaces the whole roster by what the server sent.
  public func replaceRoster(_ entries: [RosterEntry]) throws(DatabaseError) {
    try statement("DELETE FROM roster").run()
    for entry in entries { try upsertRoster(entry) }
  }

  /// Adds the entry, or replaces the one with the same JID.
  public func upsertRoster(_ entry: RosterEntry) throws(DatabaseError) {
    try deleteRoster(jid: entry.jid)
    let insert = try statement("INSERT INTO roster (jid, name, subscription, ask) VALUES (?, ?, ?, ?)")
    try insert.bind(entry.jid, at: 1)
    try insert.bind(entry.name, at: 2)
    try insert.bind(entry.subscription.rawValue, at: 3)
    try insert.bind(entry.ask ? 1 : 0, at: 4)
    try insert.run()
    let group = try statement("INSERT INTO roster_group (jid, name) VALUES (?, ?) ON CONFLICT DO NOTHING")
    for name in entry.groups {
      try group.bind(entry.jid, at: 1)
      try group.bind(name, at: 2)
      try group.run()
    }
  }

  public func deleteRoster(jid: String) throws(DatabaseError) {
    let delete = try statement("DELETE FROM roster WHERE jid = ?")
    try delete.bind(jid, at: 1)
    try delete.run()
  }
}
