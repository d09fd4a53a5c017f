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
    if message.direction == .out, let id = message.originID ?? message.messageID, let own = try ownTwin(originID: id) {
      try acknowledge([id])
      return own.hasStanzaID ? .duplicate : try recognise(own.id, stanzaID)
    }
    // What other devices of the account sent may have no origin-id.
    if message.direction == .in || message.originID == nil, let twin = try twin(of: message, isStamped: false) {
      return try recognise(twin, stanzaID)
    }
    return try add(message)
  }

  /// Whether `message`, which the server had kept back, is among the newest.
  func hasTwin(_ message: NewMessage) throws(DatabaseError) -> Bool { try twin(of: message) != nil }

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

  /// The oldest of the newest rows that holds the same as `message`; `isStamped`: only one that has a stanza-id, or
  /// has none. The oldest, since an archive gives what it has in order.
  private func twin(of message: NewMessage, isStamped: Bool? = nil) throws(DatabaseError) -> Int64? {
    guard let messageID = message.messageID else { return nil }
    let newest = try newestMessages()
    let row = try statement(
      """
      SELECT id FROM message
      WHERE id = ?1 AND peer = ?2 AND direction = ?8 AND message_id = ?3 AND body IS ?4 AND resource IS ?5
        AND (room IS NULL OR nick IS ?6) AND ifnull((stanza_id IS NOT NULL) = ?7, 1)
      """)
    for id in newest.candidates(peer: message.peer, messageID: messageID) {
      if try bind(message, id, isStamped, to: row).firstID() != nil { return id }
    }
    // What this group has added since.
    let added = try statement(
      """
      SELECT id FROM message INDEXED BY message_peer
      WHERE id > ?1 AND peer = ?2 AND direction = ?8 AND message_id = ?3 AND body IS ?4 AND resource IS ?5
        AND (room IS NULL OR nick IS ?6) AND ifnull((stanza_id IS NOT NULL) = ?7, 1)
      ORDER BY id LIMIT 1
      """)
    return try bind(message, newest.last, isStamped, to: added).firstID()
  }

  private func newestMessages() throws(DatabaseError) -> NewestMessages {
    if let known = group.newest { return known }
    let newest = try NewestMessages(queries)
    group.newest = newest
    return newest
  }

  private func bind(
    _ message: NewMessage, _ id: Int64, _ isStamped: Bool?, to row: Statement
  ) throws(DatabaseError) -> Statement {
    try row.bind(id, at: 1)
    try row.bind(message.peer, at: 2)
    try row.bind(message.messageID, at: 3)
    try row.bind(message.body, at: 4)
    try row.bind(message.resource, at: 5)
    try row.bind(message.nick, at: 6)
    try row.bind(isStamped.map { $0 ? 1 : 0 }, at: 7)
    try row.bind(message.direction.rawValue, at: 8)
    return row
  }
}

extension Statement {
  /// The first column of the first row, if there is one.
  fileprivate func firstID() throws(DatabaseError) -> Int64? {
    defer { reset() }
    return try step() ? integer(at: 0) : nil
  }
}

extension NewMessage {
  /// It was kept back by the server, and nothing in it says which message of the server's archive it is.
  var mayComeAgain: Bool { direction == .in && delay != nil && stanzaID == nil && messageID != nil }
}
