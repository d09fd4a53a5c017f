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

  /// What somebody may read.
  public var view: View?

  /// One contact's own conversation, and what was said to all in rooms: private messages through a room are nobody else's.
  public struct View: Sendable, Hashable {
    /// Bare JID; nil: no conversation.
    public var peer: String?
    /// Bare JIDs.
    public var rooms: [String]

    public init(peer: String?, rooms: [String]) {
      self.peer = peer
      self.rooms = rooms
    }

    func admits(_ row: Statement) -> Bool {
      guard let room = row.optionalText(at: MessageColumns.room) else {
        return peer.map { row.text(at: MessageColumns.peer).utf8.elementsEqual($0.utf8) } ?? false
      }
      return row.text(at: MessageColumns.kind) == NewMessage.Kind.groupchat.rawValue
        && rooms.contains { $0.utf8.elementsEqual(room.utf8) }
    }
  }

  public init(
    peer: String? = nil, room: String? = nil, since: Int64? = nil, until: Int64? = nil, view: View? = nil
  ) {
    self.view = view
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
    if let view, !view.admits(row) { return false }
    if let peer, !row.text(at: MessageColumns.peer).utf8.elementsEqual(peer.utf8) { return false }
    if let room, !row.text(at: MessageColumns.room).utf8.elementsEqual(room.utf8) { return false }
    return true
  }
}
