import JID

/// A room that the bot is to be in.
public struct RoomEntry: Sendable, Hashable {
  /// Why it is to be there.
  public enum Purpose: Sendable, Hashable {
    /// The configuration says so.
    case configured
    /// Somebody who may has asked for it; until it is left, or the process ends.
    case asked
    /// There is something to say there; left when nothing has been said for a while.
    case visit
  }

  /// Bare.
  public let address: JID
  public var nick: String
  public var password: String?
  public var purpose: Purpose

  public init(_ address: JID, nick: String, password: String? = nil, purpose: Purpose = .configured) {
    self.address = address.bare
    self.nick = nick
    self.password = password
    self.purpose = purpose
  }
}
