import JID
import XMPPStanzas

/// The rooms that the bot is to be in (XEP-0045), and how it stays there. Pure: presences, messages, answers and the time go
/// in, what is to be sent, asked and told comes out.
///
/// What it promises:
/// - A room is entered as soon as there is a stream, and entered again after each session that was not resumed. After one that was,
///   and when nothing has come from a room for ten minutes, it is asked whether we are still there (XEP-0410).
/// - Whatever ends a stay or refuses an entry is told once, with what to do about it, and the room is tried again: soon what heals by
///   itself, hourly at the most what somebody has decided, such as a ban. A room that was destroyed is not made again.
/// - A nickname that is taken is tried with `_` behind it, four times; when its owner leaves, the bot takes it back.
/// - A room that does not exist is made, with what its service makes the default.
/// - Only rooms that were asked for are rooms; whatever others send changes nothing.
/// - Memory is bounded whatever a room says: of each at most ``Occupants/most`` people are known, and texts are cut.
///
/// To be called in the order in which things happened; after each call `due` says when to call `tick`. After a message it may
/// be at once.
public struct Rooms: Sendable {
  private var rooms: [JID: Room] = [:]
  private var hasStream = false

  /// A room that is visited is left when there was nothing to say there for so long.
  public static let visitTime = Duration.seconds(600)

  public init() {}

  /// By address.
  public var all: [Room] { rooms.values.sorted { $0.address.description < $1.address.description } }
  /// By the bare address.
  public subscript(address: JID) -> Room? { rooms[address] }
  public var count: Int { rooms.count }
  public var joinedCount: Int { rooms.values.count(where: \.isJoined) }

  /// When something is to be done next; nil: nothing until something happens.
  public var due: ContinuousClock.Instant? {
    guard hasStream else { return nil }
    return rooms.values.compactMap { next(of: $0) }.min()
  }

  private func next(of room: Room) -> ContinuousClock.Instant? {
    [room.due, room.entry.purpose == .visit ? room.used.advanced(by: Self.visitTime) : nil].compactMap(\.self).min()
  }

  // MARK: - Which rooms

  /// Enters a room, or takes up what is new about one that is known. A visit changes nothing about one that is known.
  /// - Parameter knownUntil: when the newest message is from that is known of it: microseconds since 1970, UTC.
  public mutating func want(
    _ entry: RoomEntry, knownUntil: Int64? = nil, now: ContinuousClock.Instant
  ) -> [RoomAction] {
    if rooms[entry.address] != nil {
      rooms[entry.address]?.used = now
      if entry.purpose == .visit { return [] }
      return rooms[entry.address]?.update(entry, now: now) ?? []
    }
    var room = Room(entry, now: now)
    room.knownUntil = knownUntil
    let actions = hasStream ? room.begin(now: now) : []
    rooms[entry.address] = room
    return actions
  }

  /// Leaves a room, which is none of ours from now on.
  public mutating func leave(_ address: JID) -> [RoomAction] {
    guard let room = rooms.removeValue(forKey: address.bare) else { return [] }
    return (hasStream ? room.farewell() : []) + [.tell(.left(room.address))]
  }

  /// There is something to say in it: a visit goes on.
  public mutating func use(_ address: JID, now: ContinuousClock.Instant) { rooms[address]?.used = now }

  /// Tries one that waits now, since somebody asks for it.
  public mutating func retry(_ address: JID, now: ContinuousClock.Instant) -> [RoomAction] {
    hasStream ? rooms[address]?.retry(now: now) ?? [] : []
  }

  /// A message of this time is known: microseconds since 1970, UTC.
  public mutating func note(knownUntil time: Int64, of address: JID) { rooms[address]?.knownUntil = time }

  /// What was missed of a room is here (`true`), or is being fetched again. Whether the room takes what we say now.
  @discardableResult
  public mutating func open(_ address: JID, _ isOpen: Bool = true) -> Bool {
    let opens = isOpen && rooms[address]?.isJoined == true
    rooms[address]?.isOpen = opens
    return opens
  }

  // MARK: - Streams

  /// There is a new session, or that of an earlier process, of which it is not known in which rooms it was.
  public mutating func begin(now: ContinuousClock.Instant) -> [RoomAction] {
    hasStream = true
    return change { room in
      room.used = now
      return room.begin(now: now)
    }
  }

  /// The stream goes on where the last one ended.
  public mutating func resume(now: ContinuousClock.Instant) -> [RoomAction] {
    hasStream = true
    return change { room in
      room.used = now
      return room.resume(now: now)
    }
  }

  /// There is no stream: time stands still. A visit has its whole time again on the next, since what waits is counted only then.
  public mutating func lost() { hasStream = false }

  /// We go: goodbye to all.
  public func farewell() -> [RoomAction] { hasStream ? all.flatMap { $0.farewell() } : [] }

  // MARK: - What happens

  /// What is due is done. `isAwaited`: whether something waits to be said in that room.
  public mutating func tick(
    now: ContinuousClock.Instant, isAwaited: (JID) -> Bool = { _ in false }
  ) -> [RoomAction] {
    guard hasStream else { return [] }
    var actions: [RoomAction] = []
    for address in rooms.keys {
      guard let room = rooms[address], let due = next(of: room), due <= now else { continue }
      if room.entry.purpose == .visit, room.used.advanced(by: Self.visitTime) <= now {
        // What is to be said waits while the bot may yet be let in, and goes before the bot does.
        let stays = (room.isJoined || room.mayEnter) && isAwaited(address)
        if stays { rooms[address]?.used = now } else { actions += leave(address) }
      }
      actions += rooms[address]?.tick(now: now) ?? []
    }
    return actions
  }

  /// A presence that the gate let in; nil: it is none of a room of ours.
  public mutating func received(_ presence: Presence, now: ContinuousClock.Instant) -> [RoomAction]? {
    guard let address = presence.from?.bare else { return nil }
    return rooms[address]?.received(presence, now: now)
  }

  /// A message of kind `groupchat` that the gate let in; nil: it was said in no room that we are in.
  public mutating func received(_ message: Message, now: ContinuousClock.Instant) -> RoomMessage? {
    guard message.kind == .groupchat, let address = message.from?.bare else { return nil }
    return rooms[address]?.received(message, now: now)
  }

  /// A result out of a room's archive; nil: of none that is a room of ours, or of no message that was said to all.
  public func received(_ result: ArchivedMessage) -> RoomMessage? {
    guard result.message.kind == .groupchat else { return nil }
    return rooms[result.archive]?.archived(result)
  }

  public mutating func answered(
    _ request: RoomRequest, _ result: Result<IQ, StanzaError>, now: ContinuousClock.Instant
  ) -> [RoomAction] {
    // What ends with the stream says nothing of the room.
    guard hasStream else { return [] }
    return rooms[request.room]?.answered(request, result, now: now) ?? []
  }

  /// It looks as if we were not in the room any more: it is asked.
  public mutating func doubt(_ address: JID, now: ContinuousClock.Instant) -> [RoomAction] {
    hasStream ? rooms[address]?.doubt(now: now) ?? [] : []
  }

  private mutating func change(_ body: (inout Room) -> [RoomAction]) -> [RoomAction] {
    var actions: [RoomAction] = []
    for address in rooms.keys.sorted(by: { $0.description < $1.description }) {
      guard var room = rooms[address] else { continue }
      actions += body(&room)
      rooms[address] = room
    }
    return actions
  }
}
