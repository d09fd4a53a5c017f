import JID
import XMPPStanzas

/// What was said in a room that the bot is in, as ``Rooms`` lets it in.
///
/// The room vouches for all of it: it says under which nickname somebody spoke, who that is, and what they may do there.
public struct RoomMessage: Sendable {
  /// How it came.
  public enum Origin: Sendable, Hashable {
    /// It was said now, by somebody else.
    case live
    /// It was said before we came, and the room tells us (XEP-0045 section 7.2.13). Never to be acted upon.
    case history
    /// It is what we said ourselves, as everybody in the room gets it. Never to be acted upon.
    case reflection
    /// It comes out of the room's archive (XEP-0313). Who spoke is known by the nickname alone, and may have been the bot.
    case archived
  }

  /// Bare.
  public var room: JID
  public var origin: Origin
  /// Under which nickname it was said; nil: the room itself says it, which is never to be acted upon.
  public var nick: String?
  /// The speaker's own address, bare, if the room shows it; nil for what was said before.
  public var address: JID?
  /// Their standing now; nil for what was said before, and for those beyond a limit in a large crowd.
  public var affiliation: RoomAffiliation?
  public var role: RoomRole?
  /// What stays the same when the speaker changes nickname (XEP-0421); nil where the room does not vouch for it.
  public var occupantID: String?
  /// Its kind is `groupchat`. Its stanza-id, if any, is one that the room vouches for.
  public var message: Message

  /// It was said now, by somebody else who is in the room: the only kind that may be a command.
  public var mayAct: Bool { origin == .live && nick != nil }

  public init(room: JID, origin: Origin, nick: String?, message: Message) {
    self.room = room
    self.origin = origin
    self.nick = nick
    self.message = message
  }
}
