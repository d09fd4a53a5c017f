import SQLite

/// Which messages are meant; what is nil admits all.
public struct MessageFilter: Sendable, Hashable {
  /// Bare JID, exact.
  public var peer: String?
  /// Bare JID, exact.
  public var room: String?
  /// First moment, microseconds since 1970, by our own time of receipt.
  public var since: Int64?
  /// First moment after, likewise.
  public var until: Int64?

  public init(peer: String? = nil, room: String? = nil, since: Int64? = nil, until: Int64? = nil) {
    self.peer = peer
    self.room = room
    self.since = since
    self.until = until
  }

  /// Whether the current row of a statement with the columns of `MessageColumns` is meant. Addresses are compared as
  /// bytes: Swift's `==` would take canonically equivalent ones for the same.
  func admits(_ row: Statement) -> Bool {
    let time = row.integer(at: MessageColumns.time)
    if let since, time < since { return false }
    if let until, time >= until { return false }
    if let peer, !row.text(at: MessageColumns.peer).utf8.elementsEqual(peer.utf8) { return false }
    if let room, !row.text(at: MessageColumns.room).utf8.elementsEqual(room.utf8) { return false }
    return true
  }
}
