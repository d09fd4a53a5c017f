import BotKit
import JID
import XMPPStanzas
import XMPPStream

/// What was said in a room, as commands see it.
extension ChatMessage {
  /// For the router; nil when it can be no command, whatever it says. What is older than `time` (microseconds since 1970 UTC) says
  /// was held back by our own server.
  init?(_ said: RoomMessage, time: Int64) {
    guard said.mayAct, let nick = said.nick, said.message.mayBeCommand else { return nil }
    self.init(
      said.message, occupant: RoomOccupant(said, nick: nick), in: said.room, time: time)
    // `Rooms` lets in no other than one that the room vouches for.
    roomID = Message.usable(said.message.stanzaIDs.first?.id)
  }

  /// What `occupant` whispers. Only what comes live: who had the nickname before, nobody knows. The address that the room shows gives no
  /// rights here: a room may lie about it, and in a chat all commands are open.
  init?(whispered message: Message, by occupant: RoomOccupant, time: Int64) {
    guard message.kind == .chat || message.kind == .normal, message.delay == nil, message.mayBeCommand else {
      return nil
    }
    var nobody = occupant
    nobody.address = nil
    self.init(message, occupant: nobody, in: occupant.room, time: time)
    isPrivate = true
    seenAddress = occupant.address
    stay = occupant.stay
  }

  private init(_ message: Message, occupant: RoomOccupant, in room: JID, time: Int64) {
    let age = message.delay?.stamp.map { Duration.microseconds(max(0, time - $0)) } ?? .zero
    self.init(
      sender: occupant.address ?? room, body: message.encryption == nil ? message.body ?? "" : "", nick: occupant.nick,
      room: room, occupantID: occupant.id, messageID: Message.usable(message.id),
      thread: Message.usable(message.thread), lang: message.lang, time: time, age: age)
    affiliation = occupant.affiliation
    role = occupant.role
    originID = Message.usable(message.originID)
    corrects = message.replaces
    isEncrypted = message.encryption != nil
  }
}

extension RoomOccupant {
  init(_ said: RoomMessage, nick: String) {
    self.init(
      room: said.room, nick: nick, address: said.address, id: said.occupantID,
      affiliation: said.affiliation.map(Affiliation.init), role: said.role.map(Role.init))
  }

  init(_ occupant: Occupant, in room: JID) {
    self.init(
      room: room, nick: occupant.nick, address: occupant.address, id: occupant.occupantID,
      affiliation: Affiliation(occupant.affiliation), role: Role(occupant.role))
    stay = occupant.stay
  }
}

// XMPPStanzas and BotKit know nothing of one another.
extension Affiliation {
  init(_ affiliation: RoomAffiliation) {
    switch affiliation {
    case .outcast: self = .outcast
    case .none: self = .none
    case .member: self = .member
    case .admin: self = .admin
    case .owner: self = .owner
    }
  }
}

extension Role {
  init(_ role: RoomRole) {
    switch role {
    case .none: self = .none
    case .visitor: self = .visitor
    case .participant: self = .participant
    case .moderator: self = .moderator
    }
  }
}
