import Archive
import BotKit
import JID
import XMPPStanzas

/// Where the ways of rooms and of messages meet.
extension MessageFlow {
  func attachRooms() {
    rooms.onMessage = { [weak self] in self?.take($0) }
    rooms.raw = { [weak self] in self?.raw($0) }
    rooms.onAddresses = { [weak self] in self?.router.rooms = $0 }
    rooms.onOpen = { [weak self] _ in self?.outbox.roomOpened() }
    rooms.onGivenUp = { [weak self] in self?.outbox.giveUp(room: $0, $1) }
    rooms.isAwaited = { [weak self] in self?.outbox.isAwaited($0) ?? false }
    outbox.rooms = rooms
  }
}

extension NewMessage {
  /// It does not come from the address `peer` as such, but from somebody in that room, to us alone; or from the room itself.
  mutating func comesThroughRoom(_ peer: JID) {
    room = peer.bare.description
    nick = peer.resource
    if kind == .error, let error { self.error = RoomError.explained(error) }
  }
}

/// What a room says when it does not take a message (XEP-0045 section 7.4), with what to do about it.
enum RoomError {
  static func explained(_ error: String) -> String {
    let condition = error.prefix { $0 != " " }
    let remedy: String? =
      switch condition {
      case "not-acceptable": "the bot is not in the room: it enters it again, send once more"
      case "forbidden": "the bot has no voice there: ask a moderator of the room for it"
      case "not-allowed": "the room does not allow it: ask an admin of the room"
      case "item-not-found": "there is no such room or occupant"
      case "policy-violation", "resource-constraint": "too much was sent there: send less, or later"
      default: nil
      }
    return error + (remedy.map { "; \($0)" } ?? "")
  }
}
