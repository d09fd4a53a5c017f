import BotKit
import EventLoop
import JID
import XMPPStream

extension Daemon {
  /// What administrators do with rooms (`join`, `leave`, `say`, `rooms`).
  static func roomService(_ reference: Reference) -> RoomService {
    var service = RoomService()
    service.list = { reference.daemon?.flow.rooms.roomLines ?? [] }
    service.present = { reference.daemon?.flow.rooms.rooms(with: $0) ?? [] }
    service.join = { room, nick, done in
      guard let daemon = reference.daemon else { return done(.failure(.init("I am stopping."))) }
      daemon.join(room, nick, done)
    }
    service.leave = { room in
      guard let rooms = reference.daemon?.flow.rooms, let standing = rooms.standing(in: room) else {
        return .failure(.init("I am not in \(room)."))
      }
      rooms.leave(room)
      return .success(standing)
    }
    service.say = { room, text in
      guard let flow = reference.daemon?.flow, flow.rooms.rooms[room]?.isJoined == true else {
        return .init("I am not in \(room): join it first.")
      }
      flow.outbox.send(text, to: room)
      return nil
    }
    return service
  }

  /// Whose address it is, if that is somebody we know. As a room, all that comes from there would come from occupants: its owner
  /// would have no rights any more.
  private func owner(of address: JID) -> String? {
    if address.isSameAccount(as: settings.account.jid) { return "my own address" }
    if session.roster.items[address.bare] != nil { return "a contact of mine" }
    return flow.router.access.groups(of: address).first.map { "a member of my group \($0)" }
  }

  private func join(
    _ room: JID, _ nick: String?,
    _ done: @escaping @LoopActor (Result<RoomService.Standing, RoomService.Refusal>) -> Void
  ) {
    if let nick, (try? room.with(resource: nick)) == nil {
      return done(.failure(.init("\(nick) can be no nickname.")))
    }
    let isNew = !flow.rooms.isRoom(room)
    if let owner = owner(of: room) { return done(.failure(.init("\(room) is no room: it is \(owner)."))) }
    flow.rooms.join(room, nick: nick) { [weak self] failure in
      // After what the room's machine still has on the stack.
      EventLoop.main.post {
        guard let self else { return }
        let rooms = self.flow.rooms
        guard let failure else {
          let standing = rooms.standing(in: room) ?? .init(nick: nick ?? rooms.usualNick, isConfigured: false)
          return done(.success(standing))
        }
        // Who asked hears it now; without a section it would be tried for ever, and nobody would know.
        // One that was ours before goes on being tried.
        if isNew, rooms.purpose(of: room) == .asked, rooms.rooms[room]?.isJoined == false { rooms.leave(room) }
        done(.failure(.init("\(failure.reason): \(failure.remedy)")))
      }
    }
  }
}

extension RoomFlow {
  /// How we stand in a room of ours; nil: it is none.
  fileprivate func standing(in room: JID) -> RoomService.Standing? {
    guard isRoom(room), let nick = nick(in: room) else { return nil }
    return RoomService.Standing(nick: nick, isConfigured: purpose(of: room) == .configured)
  }

  /// For `rooms`, sorted.
  fileprivate var roomLines: [RoomLine] {
    lines.map { entry, room in
      let words = (room?.state ?? .asking).words
      let crowd = room.map { $0.isJoined ? ", \($0.occupantCount)\($0.isCrowd ? " or more" : "") there" : "" } ?? ""
      return RoomLine(
        room: entry.address, nick: room?.nick ?? entry.nick, state: words + crowd,
        isConfigured: entry.purpose == .configured)
    }
  }
}
