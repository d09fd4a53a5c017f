import SQLite

/// What is kept to resume a stream's session in another process (XEP-0198, 5).
public struct StreamRecord: Sendable, Hashable {
  /// The server's name for the session: `previd`.
  public var id: String
  /// The full JID that it is bound to.
  public var jid: String
  /// Where the server would like it resumed.
  public var location: String?
  /// Our `h`: how many of the server's stanzas are in the archive, as far as they belong there. Modulo 2^32.
  public var handled: UInt32
  /// How many stanzas we had sent, and the origin-id of the last message among them, as far as it was stored.
  public var sent: Sent?
  /// The server gives stanza-ids of its own and removes forged ones (XEP-0359, 5).
  public var trustsIDs: Bool

  public struct Sent: Sendable, Hashable {
    public var count: UInt32
    public var last: String

    public init(count: UInt32, last: String) {
      self.count = count
      self.last = last
    }
  }

  /// The row of `progress` for what was sent; no JID is like it.
  static let sentSource = ">"

  public init(
    id: String, jid: String, location: String? = nil, handled: UInt32 = 0, sent: Sent? = nil, trustsIDs: Bool
  ) {
    self.id = id
    self.jid = jid
    self.location = location
    self.handled = handled
    self.sent = sent
    self.trustsIDs = trustsIDs
  }
}

extension ArchiveQueries {
  /// The session that can be resumed. What was noted in a group is seen when that is committed.
  public func streamRecord() throws(DatabaseError) -> StreamRecord? {
    let row = try connection.statement(
      """
      SELECT id, jid, location, trusts_ids, position, (SELECT position FROM progress WHERE source = '>')
      FROM stream JOIN progress ON source = ''
      """)
    defer { row.reset() }
    guard try row.step(), let handled = UInt32(row.text(at: 4)) else { return nil }
    return StreamRecord(
      id: row.text(at: 0), jid: row.text(at: 1), location: row.optionalText(at: 2), handled: handled,
      sent: row.optionalText(at: 5).flatMap(StreamRecord.Sent.init), trustsIDs: row.integer(at: 3) != 0)
  }

  /// The stanza-id up to which everything of `archive` (a bare JID) is here; "": its beginning; nil: nothing is known.
  /// What was noted in a group is seen when that is committed.
  public func cursor(of archive: String) throws(DatabaseError) -> String? {
    let row = try connection.statement("SELECT position FROM progress WHERE source = ?")
    defer { row.reset() }
    try row.bind(archive, at: 1)
    return try row.step() ? row.text(at: 0) : nil
  }
}

extension ArchiveQueries {
  /// From where `archive` (a bare JID) has to be read so that every message of ours that is in doubt (`sent`) is found there:
  /// the stanza-id of the last message before the first of them, or where it all began, which is known of the account's own
  /// alone. Nil when none is in doubt.
  public func anchor(in archive: String, isAccount: Bool = true) throws(DatabaseError) -> String? {
    let first = try connection.statement(
      "SELECT min(id) FROM message INDEXED BY message_out WHERE direction = 'out' AND state = 'sent'")
    defer { first.reset() }
    guard try first.step(), let id = first.optionalInteger(at: 0) else { return nil }
    let before = try connection.statement(
      "SELECT stanza_id FROM message WHERE id < ? AND stanza_id_by = ? ORDER BY id DESC LIMIT 1")
    defer { before.reset() }
    try before.bind(id, at: 1)
    try before.bind(archive, at: 2)
    if try before.step() { return before.text(at: 0) }
    return isAccount ? try meta(.archiveStart) : nil
  }
}

extension ArchiveTransaction {
  /// Replaces what is known of the session that can be resumed, or forgets it.
  public func setStream(_ record: StreamRecord?) throws(DatabaseError) {
    // A count noted before is the old session's.
    group.dropStreamNotes()
    try statement("DELETE FROM stream").run()
    try statement("DELETE FROM progress WHERE source IN ('', '>')").run()
    guard let record else { return }
    let insert = try statement("INSERT INTO stream (id, jid, location, trusts_ids) VALUES (?, ?, ?, ?)")
    try insert.bind(record.id, at: 1)
    try insert.bind(record.jid, at: 2)
    try insert.bind(record.location, at: 3)
    try insert.bind(record.trustsIDs ? 1 : 0, at: 4)
    try insert.run()
    try setProgress(of: "", to: String(record.handled))
    if let sent = record.sent { group.note(sent: sent) }
  }

  /// All of the server's stanzas up to the `h`th are in the archive, as far as they belong there. Written with the group's
  /// rows, once for all its writes; of no effect without a stream.
  public func noteHandled(_ h: UInt32) { group.note(handled: h) }

  /// So many stanzas were sent on the stream, the message with this origin-id the last among them that is one. Written like
  /// `noteHandled`.
  public func noteSent(_ sent: StreamRecord.Sent) { group.note(sent: sent) }

  /// Everything of `archive` (a bare JID) up to this stanza-id is here; "": start at its beginning. Written with the
  /// group's rows, once for all its writes.
  public func noteCursor(_ stanzaID: String, of archive: String) { group.note(stanzaID, of: archive) }

  func setProgress(of source: String, to position: String) throws(DatabaseError) {
    let set = try statement("INSERT INTO progress VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position")
    try set.bind(source, at: 1)
    try set.bind(position, at: 2)
    try set.run()
  }
}

extension StreamRecord.Sent {
  /// `<count> <origin-id>`.
  fileprivate init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let count = UInt32(parts[0]) else { return nil }
    self.init(count: count, last: String(parts[1]))
  }
}
