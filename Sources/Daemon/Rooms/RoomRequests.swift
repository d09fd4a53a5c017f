import EventLoop
import JID
import JSON
import XMPPClient
import XMPPStanzas
import XMPPStream

/// `xmppbotctl rooms`, and what else is told of them.
extension Daemon {
  func serveRooms(_ client: ControlClient) {
    client.send(rows: flow.rooms.rooms.all.map(row))
    client.finish()
  }

  private func row(of room: Room) -> JSON {
    let age = room.since.duration(to: surroundings.scheduler.now)
    let reason: RoomFailure? = if case .waiting(let failure) = room.state { failure } else { nil }
    return [
      "room": .string(room.address.description), "nick": .string(room.nick), "state": .string(room.state.word),
      "reason": reason.map { .string($0.description) } ?? .null,
      "remedy": reason.map { .string($0.remedy) } ?? .null,
      "occupants": room.isJoined ? .int(room.occupantCount) : .null,
      "since": .string(
        Timestamp.format(surroundings.wallClock() - Int64(max(age, .zero).microseconds), wholeSeconds: true)),
      "purpose": .string(room.entry.purpose.word), "subject": room.subject.map(JSON.string) ?? .null,
    ]
  }

  /// For `status` and Prometheus.
  var roomsJoined: Int { flow.rooms.rooms.joinedCount }
  var roomsWanted: Int { flow.rooms.count }
}

extension Room.State {
  /// One word for a table.
  var word: String {
    switch self {
    case .offline: "offline"
    case .asking, .joining: "joining"
    case .joined: "joined"
    case .waiting: "waiting"
    }
  }
}

extension RoomEntry.Purpose {
  fileprivate var word: String {
    switch self {
    case .configured: "configured"
    case .asked: "asked"
    case .visit: "visit"
    }
  }
}
