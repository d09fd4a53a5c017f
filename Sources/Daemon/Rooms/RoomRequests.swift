import EventLoop
import JID
import JSON
import XMPPClient
import XMPPStanzas
import XMPPStream

/// `xmppbotctl rooms`, and what else is told of them.
extension Daemon {
  func serveRooms(_ client: ControlClient) {
    client.send(rows: flow.rooms.lines.map(row))
    client.finish()
  }

  private func row(of entry: RoomEntry, _ room: Room?) -> JSON {
    let now = surroundings.scheduler.now
    let age = room?.since.duration(to: now) ?? .zero
    let state = room?.state ?? .asking
    let reason: RoomFailure? = if case .waiting(let failure) = state { failure } else { nil }
    return [
      "room": .string(entry.address.description), "nick": .string(room?.nick ?? entry.nick),
      "state": .string(state.word),
      "reason": reason.map { .string($0.description) } ?? .null,
      "remedy": reason.map { .string($0.remedy) } ?? .null,
      "occupants": state == .joined ? .int(room?.occupantCount ?? 0) : .null,
      "since": .string(
        Timestamp.format(surroundings.wallClock() - Int64(max(age, .zero).microseconds), wholeSeconds: true)),
      "purpose": .string(entry.purpose.word), "subject": room?.subject.map(JSON.string) ?? .null,
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

  /// The same, with why we are not in it.
  var words: String {
    if case .waiting(let failure) = self { "not joined: \(failure.reason)" } else { word }
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
