import Systemd
import XMPPStream

/// What the log says of rooms: each thing once, with its reason and what to do about it.
extension RoomFlow {
  func report(_ notice: RoomNotice) {
    switch notice {
    case .joined(let room, let nick, let isNew):
      log.log(
        .roomJoined, "in \(room) as \(nick)\(isNew ? "; the room is new, the bot has made it" : "")",
        room: room.description)
    case .renamed(let room, let nick):
      let line = "in \(room) the bot's nickname is \(nick) now"
      guard let told = renames.line(line, at: now) else { return }
      log.log(.roomJoined, told, room: room.description)
    case .failed(let room, let failure, let retry, let isNews):
      let when = "tried again in \(retry.inWords)"
      if isNews {
        log.log(.roomNotJoined, "not in \(room): \(failure); \(when); \(failure.remedy)", room: room.description)
      } else {
        log.log(.roomNotJoined, at: .debug, "still not in \(room): \(failure); \(when)", room: room.description)
      }
    case .notConfigured(let room, let reason):
      log.log(
        .roomNotJoined,
        "\(room) is new and stays locked, nobody else can enter: its service does not take the defaults"
          + " (\(reason)); configure the room with another client", room: room.description)
    case .left(let room): log.log(.roomLeft, "left \(room)", room: room.description)
    case .entering, .ready, .occupant: break
    }
  }
}
