import SQLite

/// Knowing a message again that has come before without a stanza-id.
///
/// Resumption hands over nothing twice. But where a session can't be resumed, the server gives what we had not acknowledged
/// once more: from its offline storage with a stamp of the delay, or in its archive.
extension ArchiveTransaction {
  /// Adds a result of an archive's query (XEP-0313), unless the message is here already; then its row gets the stanza-id.
  /// One of ours that is found there has reached the server: it is acknowledged if it was not.
  public func insertArchived(_ message: NewMessage) throws(DatabaseError) -> Insertion {
    guard let stanzaID = message.stanzaID else { return try insert(message) }
    if try isKnown(stanzaID) { return .duplicate }
    switch message.direction {
    case .out:
      guard let id = message.originID ?? message.messageID, let twin = try ownTwin(originID: id) else { break }
      try acknowledge([id])
      if twin.hasStanzaID { return .duplicate }
      return try recognise(twin.id, stanzaID)
    case .in:
      guard let twin = try twin(of: message, within: Self.archiveReach, oldest: true) else { break }
      return try recognise(twin, stanzaID)
    }
    return try add(message)
  }

  /// Whether `message`, which the server had kept back, is among the newest.
  func hasTwin(_ message: NewMessage) throws(DatabaseError) -> Bool {
    try twin(of: message, within: Self.offlineReach, oldest: false) != nil
  }

  /// So many of the newest ids are looked through, as far as they are of the same peer. Offline storage gives what came in
  /// the last moments before a crash, and gives it first; a hostile peer can make us look, so it must be cheap.
  private static let offlineReach: Int64 = 2_000
  private static let archiveReach: Int64 = 10_000

  private func recognise(_ id: Int64, _ stanzaID: NewMessage.StanzaID) throws(DatabaseError) -> Insertion {
    let update = try statement("UPDATE message SET stanza_id = ?, stanza_id_by = ? WHERE id = ?")
    try update.bind(stanzaID.id, at: 1)
    try update.bind(stanzaID.by, at: 2)
    try update.bind(id, at: 3)
    try update.run()
    return .recognised(id: id)
  }

  private func isKnown(_ stanzaID: NewMessage.StanzaID) throws(DatabaseError) -> Bool {
    let row = try statement("SELECT 1 FROM message WHERE stanza_id_by = ? AND stanza_id = ?")
    defer { row.reset() }
    try row.bind(stanzaID.by, at: 1)
    try row.bind(stanzaID.id, at: 2)
    return try row.step()
  }

  private func ownTwin(originID: String) throws(DatabaseError) -> (id: Int64, hasStanzaID: Bool)? {
    // Each state by its name, since the index has them by state.
    let row = try statement(
      """
      SELECT id, stanza_id IS NOT NULL FROM message INDEXED BY message_out
      WHERE direction = 'out' AND state IN ('queued', 'sent', 'acked', 'received', 'displayed', 'failed')
        AND origin_id = ? LIMIT 1
      """)
    defer { row.reset() }
    try row.bind(originID, at: 1)
    return try row.step() ? (row.integer(at: 0), row.integer(at: 1) != 0) : nil
  }

  /// The row that holds the same as `message`, which came in. `oldest`: the first that has no stanza-id, since an archive
  /// gives what it has in order; else the newest, whatever it has.
  private func twin(
    of message: NewMessage, within reach: Int64, oldest: Bool
  ) throws(DatabaseError) -> Int64? {
    guard let messageID = message.messageID else { return nil }
    let row = try statement(
      oldest
        ? """
        SELECT id FROM message INDEXED BY message_peer
        WHERE peer = ?1 AND id > (SELECT max(id) FROM message) - ?2 AND direction = 'in' AND stanza_id IS NULL
          AND message_id = ?3 AND body IS ?4 AND resource IS ?5 AND (room IS NULL OR nick IS ?6)
        ORDER BY id LIMIT 1
        """
        : """
        SELECT id FROM message INDEXED BY message_peer
        WHERE peer = ?1 AND id > (SELECT max(id) FROM message) - ?2 AND direction = 'in'
          AND message_id = ?3 AND body IS ?4 AND resource IS ?5 AND (room IS NULL OR nick IS ?6)
        ORDER BY id DESC LIMIT 1
        """)
    defer { row.reset() }
    try row.bind(message.peer, at: 1)
    try row.bind(reach, at: 2)
    try row.bind(messageID, at: 3)
    try row.bind(message.body, at: 4)
    try row.bind(message.resource, at: 5)
    try row.bind(message.nick, at: 6)
    return try row.step() ? row.integer(at: 0) : nil
  }
}

extension NewMessage {
  /// It was kept back by the server, and nothing in it says which message of the server's archive it is.
  var mayComeAgain: Bool { direction == .in && delay != nil && stanzaID == nil && messageID != nil }
}
