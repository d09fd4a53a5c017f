import JID
import XML
import XMPPStanzas

/// What ``Rooms`` wants done.
public enum RoomAction: Sendable {
  case send(Element)
  /// Ask this; the answer goes to `Rooms.answered`.
  case request(RoomRequest)
  case tell(RoomNotice)
}

/// A question to a room.
public struct RoomRequest: Sendable, Hashable {
  public enum Topic: Sendable, Hashable {
    /// What the room is and can do (XEP-0030).
    case info
    /// Whether we are still in it (XEP-0410).
    case selfPing
    /// That it may be as it is by default (XEP-0045 section 10.1.2).
    case acceptDefaults
  }

  public let room: JID
  public let topic: Topic
  /// To whom it goes: the room, or our own place in it.
  public let to: JID
  /// Answers to attempts before the last count for nothing.
  let attempt: Int

  public var kind: IQ.Kind { topic == .acceptDefaults ? .set : .get }

  public var payload: Element {
    switch topic {
    case .info: DiscoInfo.request()
    case .selfPing: Element("ping", Namespace.ping)
    case .acceptDefaults: RoomJoin.acceptDefaults
    }
  }
}

/// What happened, for the log and for those who wait for it.
public enum RoomNotice: Sendable, Hashable {
  /// The request to enter goes now: from here on messages may come.
  case entering(JID)
  /// We are in it, under this nickname. `isNew`: it did not exist before.
  case joined(JID, nick: String, isNew: Bool)
  /// What the room can do is known, as far as it says, we are in it, and it has told what was said before, if we asked for that.
  case ready(JID)
  /// Our nickname there is another one now.
  case renamed(JID, nick: String)
  /// We are not in it, or not any more; tried again after so long. `isNews`: it was not so at the last attempt.
  case failed(JID, RoomFailure, retry: Duration, isNews: Bool)
  /// The room was made by us, and does not become usable.
  case notConfigured(JID, String)
  /// It was left, since it is not wanted any more.
  case left(JID)
  /// Something happened to somebody else who is there.
  case occupant(JID, Occupant, OccupantChange)
}
