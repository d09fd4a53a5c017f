import BotKit
import JID
import XMPPStream

/// What is said in rooms, and through them, on its way to the router and back.
extension MessageFlow {
  /// What the router is asked about; nil: it can be no command, whatever it says. `account`: our own.
  func chat(of arrival: Arrival, from peer: JID, account: JID, at time: Int64) -> ChatMessage? {
    if let said = arrival.room { return ChatMessage(said, time: time) }
    guard arrival.mayAct(as: session.boundResource) else { return nil }
    guard session.isRoom(peer) else { return arrival.message.chat(from: peer, account: account, time: time) }
    // Of what an archive holds nobody can say who had the nickname then. The room itself is nobody, and so are we.
    guard case .live = arrival.way, rooms.isRoom(peer), let nick = peer.resource, nick != rooms.nick(in: peer) else {
      return nil
    }
    // The answer to somebody who is not there would go to nobody.
    guard rooms.mayWhisper(from: peer) else { return nil }
    return ChatMessage(whispered: arrival.message, by: rooms.occupant(at: peer), time: time)
  }
}

extension MessageFlow {
  /// Tells of a new subject (XEP-0045 section 8.1); that of before we came is none.
  func noteSubject(_ arrival: Arrival) {
    guard let said = arrival.room, said.origin == .live || said.origin == .reflection, said.message.subject != nil,
      said.message.body == nil
    else { return }
    onSubject(said)
  }
}

extension RoomFlow {
  /// Who is at `place`, a full address; somebody of whom nothing is known where the room has not said it.
  func occupant(at place: JID) -> RoomOccupant {
    let nick = place.resource ?? ""
    let known = rooms[place.bare]?.occupant(nick)
    return known.map { RoomOccupant($0, in: place.bare) } ?? RoomOccupant(room: place, nick: nick)
  }

  /// Somebody is at `place`, as far as is known.
  func mayWhisper(from place: JID) -> Bool {
    guard let room = rooms[place.bare], room.isJoined, let nick = place.resource else { return false }
    return room.isCrowd || room.occupant(nick) != nil
  }

  /// Where the sender of a private message is now, under whatever nickname; nil: there no more.
  func place(of message: ChatMessage) -> JID? {
    guard let address = message.room, let nick = message.nick, let room = rooms[address], room.isJoined else {
      return nil
    }
    // The surest sign: the nickname may be another's by now, who shows as little of themselves.
    if let stay = message.stay {
      if let present = room.occupants.first(where: { $0.stay == stay }) {
        return try? address.with(receivedResource: present.nick)
      }
      if message.seenAddress == nil, message.occupantID == nil { return nil }
    }
    let sender = RoomOccupant(room: address, nick: nick, address: message.seenAddress, id: message.occupantID)
    let isUnknown = sender.address == nil && sender.id == nil
    // Mostly nothing has changed.
    if let present = room.occupant(nick).map({ RoomOccupant($0, in: address) }), present.isSame(as: sender) {
      return try? address.with(receivedResource: nick)
    }
    if isUnknown { return room.isCrowd ? try? address.with(receivedResource: nick) : nil }
    let present = room.occupants.first { RoomOccupant($0, in: address).isSame(as: sender) }
    return present.flatMap { try? address.with(receivedResource: $0.nick) }
  }

  /// The rooms in which the owner of this address is at present, as far as these show it.
  func rooms(with address: JID) -> [JID] {
    rooms.all.filter { room in room.isJoined && room.occupants.contains { $0.address == address } }.map(\.address)
  }
}
