import JID
import XMPPStream

extension Daemon {
  /// Puts the rooms of the settings into force, with the passwords in `entries`: by difference, the stream stays.
  func configureRooms(_ entries: [RoomEntry]) {
    flow.rooms.usualNick = settings.usualNick
    var prefixes: [JID: String] = [:]
    for room in settings.rooms { prefixes[room.jid] = room.prefix }
    flow.rooms.configure(entries, prefixes: prefixes)
  }
}
