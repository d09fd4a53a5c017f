import JID
import XMPPStanzas

/// Somebody in a room, as the room tells it (XEP-0045).
public struct Occupant: Sendable, Hashable {
  public var nick: String
  public var affiliation: RoomAffiliation
  public var role: RoomRole
  /// The own address, bare, if the room shows it to us. The room says so, and nobody else.
  public var address: JID?
  /// What stays the same when the nickname changes (XEP-0421); nil where the room does not vouch for it.
  public var occupantID: String?
  /// Which stay in the room this is: it lasts through changes of the nickname, and no later one has the same number.
  public internal(set) var stay = 0
}

/// What happened to somebody in a room, after we have come.
public enum OccupantChange: Sendable, Hashable {
  case entered
  /// Why, in the room's words, if they did not go by themselves.
  case left(reason: String?)
  /// They had this nickname before.
  case renamed(from: String)
  /// Another affiliation or role.
  case standing
}

/// Who is in a room, by their address there. Bounded: of a larger crowd the first are known, and the rest are nobody.
struct Occupants: Sendable, Hashable {
  /// Of each room.
  static let most = 2_000
  /// Bytes of an occupant-id; one that is longer is none.
  private static let longestID = 256

  private var byPlace: [JID: Occupant] = [:]
  /// There are more than are known.
  private(set) var isCut = false
  private var stays = 0

  var count: Int { byPlace.count }
  var all: [Occupant] { byPlace.values.sorted { $0.nick < $1.nick } }
  subscript(place: JID) -> Occupant? { byPlace[place] }

  /// Somebody is at `place`; what that changes, nil if nothing.
  mutating func enter(_ place: JID, _ presence: Presence, vouched: Bool) -> (Occupant, OccupantChange)? {
    let known = byPlace[place]
    guard let nick = place.resource, known != nil || byPlace.count < Self.most else {
      isCut = true
      return nil
    }
    let user = presence.room ?? RoomUser()
    var occupant = Occupant(
      nick: nick, affiliation: user.affiliation, role: user.role, address: user.address,
      occupantID: vouched ? presence.occupantID.flatMap { $0.utf8.count <= Self.longestID ? $0 : nil } : nil)
    if known == nil { stays += 1 }
    occupant.stay = known?.stay ?? stays
    byPlace[place] = occupant
    guard let known else { return (occupant, .entered) }
    return known.affiliation == occupant.affiliation && known.role == occupant.role ? nil : (occupant, .standing)
  }

  /// Nobody is known any more.
  mutating func forgetAll() {
    byPlace = [:]
    isCut = false
  }

  mutating func leave(_ place: JID) -> Occupant? { byPlace.removeValue(forKey: place) }

  mutating func rename(_ old: JID, to new: JID) -> Occupant? {
    guard var occupant = byPlace.removeValue(forKey: old), let nick = new.resource else { return nil }
    occupant.nick = nick
    byPlace[new] = occupant
    return occupant
  }
}
