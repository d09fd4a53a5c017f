import JID
import XML
import XMPPStanzas
import XMPPStream

/// Plays the rooms' servers to `Rooms`, and keeps what it did, a line each. Time stands still until it is moved.
struct RoomDialogue {
  var rooms = Rooms()
  private(set) var log: [String] = []
  private(set) var requests: [RoomRequest] = []
  private var now = ContinuousClock.now
  /// Something waits to be said in each room.
  var isAwaited = false
  static let ops = "ops@conference.example.org"

  /// What was done since the last call.
  mutating func actions() -> [String] {
    defer { log = [] }
    return log
  }

  mutating func want(
    _ room: String = ops, nick: String = "bot", password: String? = nil, _ purpose: RoomEntry.Purpose = .configured,
    knownUntil: Int64? = nil
  ) throws {
    note(
      rooms.want(
        RoomEntry(try JID(room), nick: nick, password: password, purpose: purpose), knownUntil: knownUntil, now: now))
  }

  mutating func leave(_ room: String = ops) throws { note(rooms.leave(try JID(room))) }
  mutating func begin() { note(rooms.begin(now: now)) }
  mutating func resume() { note(rooms.resume(now: now)) }
  mutating func open() throws -> Bool { rooms.open(try JID(Self.ops)) }
  mutating func lose() { rooms.lost() }

  /// Time passes, and what becomes due in it is done.
  mutating func wait(_ duration: Duration) {
    let end = now.advanced(by: duration)
    while let due = rooms.due, due <= end {
      now = max(due, now)
      note(rooms.tick(now: now) { [isAwaited] _ in isAwaited })
    }
    now = end
  }

  /// The room answers the last question: with its features, or the condition of an error.
  mutating func answer(features: [String]) throws {
    let info = DiscoInfo(identities: [.init(category: "conference", type: "text")], features: Set(features))
    try answer(payload: info.element)
  }

  mutating func answer(payload: Element? = nil) throws {
    guard let request = requests.popLast() else { throw Unasked() }
    note(rooms.answered(request, .success(try Self.iq(payload, from: request.to)), now: now))
  }

  mutating func answer(error: StanzaError.Condition) throws {
    guard let request = requests.popLast() else { throw Unasked() }
    note(rooms.answered(request, .failure(StanzaError(.cancel, error)), now: now))
  }

  struct Unasked: Error {}

  private static func iq(_ payload: Element?, from: JID) throws -> IQ {
    var element = Element("iq", Namespace.client, [("type", "result"), ("id", "1"), ("from", from.description)])
    if let payload { element.append(payload) }
    return try IQ(element)
  }

  /// A presence of the room; `user` is what is in `<x/>`. Whether it was taken for one.
  @discardableResult
  mutating func presence(
    _ from: String, type: String? = nil, _ user: String = "<item affiliation='none' role='participant'/>",
    besides: String = ""
  ) throws -> Bool {
    let element = try Element(
      parsing: "<presence xmlns='jabber:client' from='\(from)'\(type.map { " type='\($0)'" } ?? "")>"
        + "<x xmlns='\(Namespace.mucUser)'>\(user)</x>\(besides)</presence>")
    guard let actions = rooms.received(try Presence(element), now: now) else { return false }
    note(actions)
    return true
  }

  mutating func refuse(_ condition: String, from: String = ops + "/bot") throws {
    let element = try Element(
      parsing: "<presence xmlns='jabber:client' from='\(from)' type='error'><error type='cancel'>"
        + "<\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>")
    note(rooms.received(try Presence(element), now: now) ?? [])
  }

  /// All of it: the room has the features, and lets us in.
  mutating func enter(_ room: String = ops, nick: String = "bot", features: [String] = [Namespace.muc]) throws {
    try answer(features: features)
    try presence(room + "/" + nick, "<item affiliation='none' role='participant'/><status code='110'/>")
    log = []
  }

  mutating func message(_ from: String, _ content: String, _ attributes: String = "type='groupchat'") throws
    -> RoomMessage?
  {
    let element = try Element(
      parsing: "<message xmlns='jabber:client' from='\(from)' \(attributes)>\(content)</message>")
    return rooms.received(try Message(element), now: now)
  }

  private mutating func note(_ actions: [RoomAction]) {
    for action in actions {
      switch action {
      case .send(let element): log.append(element.xml)
      case .request(let request):
        requests.append(request)
        log.append("ask \(request.topic)")
      case .tell(let notice): log.append(Self.words(notice))
      }
    }
  }

  private static func words(_ notice: RoomNotice) -> String {
    switch notice {
    case .entering: "entering"
    case .joined(_, let nick, let isNew): "joined as \(nick)" + (isNew ? ", new" : "")
    case .ready: "ready"
    case .renamed(_, let nick): "renamed \(nick)"
    case .failed(_, let failure, let retry, let isNews):
      "\(isNews ? "failed" : "again"): \(failure.cause), retry in \(Int(retry / .seconds(1))) s"
    case .notConfigured(_, let reason): "not configured: \(reason)"
    case .left: "left"
    case .occupant(_, let occupant, let change): "\(occupant.nick) \(Self.words(change))"
    }
  }

  private static func words(_ change: OccupantChange) -> String {
    switch change {
    case .entered: "entered"
    case .left(let reason): "left" + (reason.map { ": \($0)" } ?? "")
    case .renamed(let old): "was \(old)"
    case .standing: "stands otherwise"
    }
  }
}
