import SQLite

/// As much of a message that came in as tells whether another is the same once more.
public struct RecentMessage: Sendable, Hashable {
  /// Bare JID.
  public var peer: String
  public var resource: String?
  public var messageID: String
  public var body: String?
  /// When it came: microseconds since 1970 UTC.
  public var time: Int64

  public init(peer: String, resource: String?, messageID: String, body: String?, time: Int64) {
    self.peer = peer
    self.resource = resource
    self.messageID = messageID
    self.body = body
    self.time = time
  }
}

extension ArchiveQueries {
  /// The contacts to whom exactly this was sent; from the last 10,000 rows.
  public func recentRecipients(of body: String) throws(DatabaseError) -> [String] {
    var found: [String] = []
    let rows = try connection.statement(
      """
      SELECT DISTINCT peer FROM message
      WHERE id > (SELECT max(id) FROM message) - 10000 AND direction = 'out' AND body = ?
      """)
    try rows.bind(body, at: 1)
    try rows.forEachRow { found.append($0.text(at: 0)) }
    return found
  }

  /// The newest messages that came from contacts and have an id, at most `limit`, oldest first; from the last 10,000 rows.
  public func recentIncoming(limit: Int) throws(DatabaseError) -> [RecentMessage] {
    var found: [RecentMessage] = []
    let rows = try connection.statement(
      """
      SELECT peer, resource, message_id, body, time FROM message
      WHERE id > (SELECT max(id) FROM message) - 10000 AND direction = 'in' AND (kind = 'chat' OR kind = 'normal')
        AND message_id IS NOT NULL
      ORDER BY id DESC LIMIT ?
      """)
    try rows.bind(Int64(limit), at: 1)
    try rows.forEachRow { row in
      found.append(
        RecentMessage(
          peer: row.text(at: 0), resource: row.optionalText(at: 1), messageID: row.text(at: 2),
          body: row.optionalText(at: 3), time: row.integer(at: 4)))
    }
    return found.reversed()
  }
}
