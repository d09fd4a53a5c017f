import JID
import XML

/// How long-lasting somebody's standing in a room is (XEP-0045 section 5.2).
public enum RoomAffiliation: String, Sendable, Hashable { case outcast, none, member, admin, owner }

/// What an occupant may do in a room at present (XEP-0045 section 5.1).
public enum RoomRole: String, Sendable, Hashable { case none, visitor, participant, moderator }

/// XEP-0045 (1.35.1): `<x xmlns='http://jabber.org/protocol/muc#user'/>` in a presence, by which a room tells of an occupant.
/// Only as good as the room.
public struct RoomUser: Sendable, Hashable {
  /// What a room says of itself, or of what happened to an occupant (section 15.6).
  public enum Status {
    /// This presence is our own.
    public static let isSelf = 110
    /// The room is new, and we made it.
    public static let created = 201
    /// The room has given us another nickname.
    public static let nickAssigned = 210
    public static let banned = 301
    public static let nickChanged = 303
    public static let kicked = 307
    /// Not a member any more in a room for members.
    public static let affiliationLost = 321
    /// The room is for members from now on.
    public static let membersOnly = 322
    public static let shutDown = 332
    /// The service lost us.
    public static let technical = 333
  }

  public var affiliation = RoomAffiliation.none
  public var role = RoomRole.none
  /// The occupant's own address, bare, if the room shows it.
  public var address: JID?
  /// The new nickname, with `Status.nickChanged`.
  public var nick: String?
  /// Why it was done, and under which nickname who did it.
  public var reason: String?
  public var actor: String?
  public var status: Set<Int> = []
  /// The room exists no more.
  public var destroyed: Destroyed?

  public struct Destroyed: Sendable, Hashable {
    /// The room to go to instead.
    public var alternative: String?
    public var reason: String?
    public init(alternative: String? = nil, reason: String? = nil) {
      self.alternative = alternative
      self.reason = reason
    }
  }

  /// More is not read: each is a number of three digits, and there are some thirty.
  private static let mostStatuses = 32

  public init() {}

  init(_ element: Element) {
    for case .element(let child) in element.children where child.namespace == Namespace.mucUser {
      switch child.name {
      case "item": read(child)
      case "status":
        if status.count < Self.mostStatuses, let code = child["code"].flatMap({ Int($0) }) { status.insert(code) }
      case "destroy":
        destroyed = Destroyed(alternative: child["jid"], reason: child.child("reason", Namespace.mucUser)?.text)
      default: break
      }
    }
  }

  private mutating func read(_ item: Element) {
    affiliation = item["affiliation"].flatMap(RoomAffiliation.init(rawValue:)) ?? .none
    role = item["role"].flatMap(RoomRole.init(rawValue:)) ?? .none
    address = item["jid"].flatMap { try? JID(received: $0) }?.bare
    nick = item["nick"]
    reason = item.child("reason", Namespace.mucUser)?.text
    actor = item.child("actor", Namespace.mucUser).flatMap { $0["nick"] ?? $0["jid"] }
  }
}
