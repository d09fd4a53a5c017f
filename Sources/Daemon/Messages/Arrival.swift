import Archive
import BotKit
import JID
import XML
import XMPPStanzas
import XMPPStream

/// A message on its way into the archive, with how it came.
struct Arrival {
  /// Most come live, and are held by thousands: what comes with the others is kept apart.
  indirect enum Way {
    /// To the bot.
    case live
    /// A copy of what another device of the account sent or received (XEP-0280).
    case carbon(Carbon.Direction)
    /// Out of an archive (XEP-0313).
    case archived(ArchivedMessage)
  }

  var message: Message
  /// The XML, if it is kept.
  var raw: String?
  var number: StreamManagement.HandledCount?
  var way: Way
  /// It marks how far its archive is known.
  var movesCursor = false
  /// What it is in the room where it was said.
  var room: RoomMessage? {
    get { if case .message(let message)? = place { message } else { nil } }
    set { place = newValue.map { .message($0) } }
  }
  /// Kept apart: most were said in none.
  private indirect enum Place { case message(RoomMessage) }
  private var place: Place?
  /// There is nothing in it for us but where it stood.
  var isIgnored = false
  /// It was known before: read once more to find what is in doubt.
  var isPast = false

  init(
    message: Message, raw: String? = nil, number: StreamManagement.HandledCount? = nil, way: Way,
    movesCursor: Bool = false,
    isPast: Bool = false, room: RoomMessage? = nil
  ) {
    self.message = message
    self.raw = raw
    self.number = number
    self.way = way
    self.movesCursor = movesCursor
    self.isPast = isPast
    self.room = room
  }

  /// The account said it, from whatever device.
  var isOurs: Bool {
    switch way {
    case .live: false
    case .carbon(let direction): direction == .sent
    case .archived(let result): result.isOwn
    }
  }

  /// The other side.
  var peer: JID? { isOurs ? message.to : message.from }

  /// The archive's id of it.
  var stanzaID: NewMessage.StanzaID? {
    if case .archived(let result) = way { return .init(id: result.id, by: result.archive.description) }
    return message.stanzaIDs.first.map { .init(id: $0.id, by: $0.by) }
  }

  /// How far the archive is known with it.
  var cursor: NewMessage.StanzaID? { movesCursor ? stanzaID : nil }

  /// Whether it may be a command: it was said to the bot, not to another device of the account. `resource`: ours.
  func mayAct(as resource: String?) -> Bool {
    switch way {
    case .live: true
    case .carbon: false
    case .archived(let result):
      // Of one without a stamp nobody knows how old it is.
      !result.isOwn && !isPast && result.stamp != nil
        && (message.to?.resource == nil || message.to?.resource == resource)
    }
  }

  /// There is something to keep. The subject that a room tells whoever comes was there before.
  var isWorthKeeping: Bool {
    if isIgnored { return false }
    if room?.origin == .history, message.body == nil { return false }
    return message.isWorthKeeping
  }

  /// What we may have said ourselves in a room: under which id, and by which nickname if that is not known to be ours. The
  /// archive knows whether we have.
  var ownWord: (id: String, nick: String?)? {
    guard let room, room.origin != .live, let nick = room.nick, let id = message.originID ?? message.id else {
      return nil
    }
    return (id, room.origin == .reflection ? nil : nick)
  }

  /// About what it holds in memory, in bytes.
  var size: Int { 1_024 + 2 * (message.body?.utf8.count ?? 0) + (raw?.utf8.count ?? 0) }
}

/// What goes into the archive together.
struct Entry: Sendable {
  var row: NewMessage
  var answer: [NewMessage]
  /// The name of the command that is to run.
  var command: String?
  /// The id of our message that came back as an error.
  var bounced: String?
  /// Whose word that is, in a room; nil: the room's own.
  var speaker: String?
  /// Which messages of ours have come how far.
  var settles: [(id: String, state: NewMessage.State)] = []
  var cursor: NewMessage.StanzaID?
  /// It comes out of an archive.
  var isArchived = false
  /// What we may have said ourselves, in a room.
  var ownWord: (id: String, nick: String?)?
  /// There is a row in it.
  var isKept: Bool

  init(_ arrival: Arrival, row: NewMessage, answer: [NewMessage], decision: Decision?) {
    self.row = row
    self.row.stanzaID = arrival.stanzaID
    self.answer = answer
    cursor = arrival.cursor
    isKept = arrival.isWorthKeeping
    ownWord = arrival.ownWord
    if case .archived = arrival.way { isArchived = true }
    if case .run(let command)? = decision { self.command = command.request.command }
    guard !arrival.isOurs else { return }
    speaker = arrival.peer?.resource
    bounced = arrival.message.kind == .error ? arrival.message.id : nil
    if let settled = arrival.message.settles { settles = [settled] }
  }

  /// About what it holds in memory, in bytes.
  var bytes: Int {
    512 + (row.body?.utf8.count ?? 0) + (row.rawXML?.utf8.count ?? 0)
      + answer.reduce(0) { $0 + 512 + ($1.body?.utf8.count ?? 0) }
  }
}
