import JID

/// Somebody in a room, as the room describes them (XEP-0045).
public struct RoomOccupant: Sendable, Hashable {
  /// The room's bare address.
  public var room: JID
  public var nick: String
  /// Their own bare address; nil where the room hides it.
  public var address: JID?
  /// What stays the same when they change the nickname (XEP-0421).
  public var id: String?
  public var affiliation: Affiliation?
  public var role: Role?
  /// Which stay in the room it is, if that is known.
  public var stay: Int?

  public init(
    room: JID, nick: String, address: JID? = nil, id: String? = nil, affiliation: Affiliation? = nil, role: Role? = nil
  ) {
    self.room = room.bare
    self.nick = nick
    self.address = address?.bare
    self.id = id
    self.affiliation = affiliation
    self.role = role
  }

  public var subject: AccessSubject { AccessSubject(address: address, affiliation: affiliation, role: role) }

  /// Whether `other` is the same person as far as the room tells: by address, else by occupant-id, else by nickname.
  public func isSame(as other: RoomOccupant) -> Bool {
    if room != other.room { return false }
    if let address, let otherAddress = other.address { return address == otherAddress }
    if let id, let otherID = other.id { return id == otherID }
    return nick.utf8.elementsEqual(other.nick.utf8)
  }
}

/// What happened to a room, as a handler is told.
public struct RoomEvent: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case joined, left
    /// Another nickname.
    case renamed
    /// Another affiliation or role.
    case standing
    case subject
  }

  public var kind: Kind
  public var room: JID
  /// It is about the bot itself.
  public var isOwn: Bool
  /// Whom it is about; nil where only a nickname is known, as of who set a subject.
  public var occupant: RoomOccupant?
  public var nick: String?
  public var subject: String?
  /// The nickname before, of who was renamed.
  public var before: String?
  /// Why somebody left or could not stay: kicked, banned, or in the room's words.
  public var reason: String?
  /// Microseconds since 1970 UTC.
  public var time: Int64

  public init(_ kind: Kind, room: JID, isOwn: Bool = false, occupant: RoomOccupant? = nil, time: Int64) {
    self.kind = kind
    self.room = room.bare
    self.isOwn = isOwn
    self.occupant = occupant
    self.time = time
  }
}
