import BotKit
import JID
import XMPPStanzas
import XMPPStream

/// What happens to rooms and in them, for handlers that asked.
extension Daemon {
  func connectRooms() {
    flow.rooms.onNotice = { [weak self] in self?.tell($0) }
    flow.onSubject = { [weak self] in self?.tell(subject: $0) }
  }

  private func tell(_ notice: RoomNotice) {
    guard longRunning.watchesRooms, let event = RoomEvent(notice, time: surroundings.wallClock()) else { return }
    tell(event)
  }

  private func tell(subject said: RoomMessage) {
    guard longRunning.watchesRooms else { return }
    var event = RoomEvent(.subject, room: said.room, time: surroundings.wallClock())
    event.subject = said.message.subject
    event.nick = said.nick
    event.isOwn = said.origin == .reflection
    tell(event)
  }

  private func tell(_ event: RoomEvent) { longRunning.heard(event) { admits($0, $1) } }

  /// A presence of a room of ours.
  func tell(_ presence: Presence, in room: JID) {
    guard longRunning.watchesPresence, presence.kind == .available || presence.kind == .unavailable,
      let from = presence.from, let nick = from.resource, nick != flow.rooms.nick(in: room)
    else { return }
    var occupant = flow.rooms.occupant(at: from)
    // Who has gone is known no more.
    if presence.kind == .unavailable { occupant.address = presence.room?.address ?? occupant.address }
    var event = ContactPresence(
      contact: occupant.address ?? room, resource: nil, isAvailable: presence.kind == .available, show: presence.show,
      status: presence.status.map { String($0.prefix(1_000)) }, time: surroundings.wallClock())
    event.occupant = occupant
    longRunning.heard(event) { admits(occupant.subject, $0) }
  }

  private func admits(_ subject: AccessSubject, _ rules: [AccessRule]) -> Bool {
    flow.router.access.admission(of: subject, rules, inRoster: flow.router.facts.inRoster) != nil
  }
}

extension RoomEvent {
  /// Nil for what is the bot's own business.
  fileprivate init?(_ notice: RoomNotice, time: Int64) {
    switch notice {
    case .joined(let room, let nick, _):
      self.init(.joined, room: room, isOwn: true, time: time)
      self.nick = nick
    case .renamed(let room, let nick):
      self.init(.renamed, room: room, isOwn: true, time: time)
      self.nick = nick
    case .failed(let room, let failure, _, let isNews):
      guard isNews else { return nil }
      self.init(.left, room: room, isOwn: true, time: time)
      reason = failure.description
    case .left(let room): self.init(.left, room: room, isOwn: true, time: time)
    case .occupant(let room, let somebody, let change):
      let occupant = RoomOccupant(somebody, in: room)
      switch change {
      case .entered: self.init(.joined, room: room, occupant: occupant, time: time)
      case .left(let reason):
        self.init(.left, room: room, occupant: occupant, time: time)
        self.reason = reason
      case .renamed(let before):
        self.init(.renamed, room: room, occupant: occupant, time: time)
        self.before = before
      case .standing: self.init(.standing, room: room, occupant: occupant, time: time)
      }
    case .entering, .ready, .notConfigured: return nil
    }
  }
}
