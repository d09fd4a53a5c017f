import JID
import XMPPStanzas

/// One room that the bot is to be in (XEP-0045): what it does to get in, and how it learns that it is out. Pure; see ``Rooms``.
public struct Room: Sendable {
  public enum State: Sendable, Hashable {
    /// There is no stream.
    case offline
    /// What the room can do is asked, before it is entered.
    case asking
    /// The request to enter is under way.
    case joining
    case joined
    /// We are not in it, for this reason; it is tried again.
    case waiting(RoomFailure)
  }

  public internal(set) var entry: RoomEntry
  public private(set) var state = State.offline
  /// When `state` began.
  public private(set) var since: ContinuousClock.Instant
  /// Our nickname there, or the one that is tried.
  public private(set) var nick: String
  /// What the last change of subject left.
  public private(set) var subject: String?
  /// When the newest message is from that is known: microseconds since 1970, UTC; nil: none is.
  public var knownUntil: Int64?
  /// For a visit: when there was last something to say.
  var used: ContinuousClock.Instant

  private(set) var people = Occupants()
  private var features: Set<String>?
  /// It was asked, and will say no more.
  private var hasAnswered = false
  private var attempt = 0
  private var pings = 0
  /// The next thing to look at.
  private(set) var due: ContinuousClock.Instant?
  private var lastHeard: ContinuousClock.Instant
  private var isPinged = false
  /// Pings in a row that proved nothing.
  private var doubts = 0
  /// Entries in a row that failed, or did not last.
  private var failures = 0
  private var alternatives = 0
  private var told: RoomFailure.Cause?
  /// The room marks our own presence (status 110).
  private var hasMark = false
  /// It was destroyed: asked for, it would be made anew.
  private var isDestroyed = false
  /// What was said before we came has been told (section 7.2.13): its end is the subject.
  private var isPast = false
  /// It was asked to tell what was said before we came.
  private var tellsPast = false
  /// What it can do is known, and what was said before we came has been told, or comes from its archive.
  public private(set) var isReady = false
  /// What was missed is here: what we say goes there. Ends with the stay.
  public internal(set) var isOpen = false
  /// It is new, and has not said yet that it may be as it is by default: until then nobody else may enter.
  private var isLocked = false

  init(_ entry: RoomEntry, now: ContinuousClock.Instant) {
    self.entry = entry
    nick = entry.nick
    since = now
    used = now
    lastHeard = now
  }

  public var address: JID { entry.address }
  public var isJoined: Bool { state == .joined }
  /// We are not in it, and may yet be.
  var mayEnter: Bool {
    switch state {
    case .joined: false
    case .offline, .asking, .joining: true
    case .waiting(let failure): failure.mayHeal
    }
  }
  /// Those who are there, with ourselves, by nickname; of a large crowd some.
  public var occupants: [Occupant] { people.all }
  public var occupantCount: Int { people.count }
  /// There are more than `occupants` has.
  public var isCrowd: Bool { people.isCut }
  public func occupant(_ nick: String) -> Occupant? {
    (try? address.with(receivedResource: nick)).flatMap { people[$0] }
  }

  /// It keeps an archive (XEP-0313).
  public var hasArchive: Bool { features?.contains(Namespace.archive) ?? false }
  /// It removes forged stanza-ids of its own (XEP-0359 section 5).
  public var vouchesForIDs: Bool { features?.isDisjoint(with: [Namespace.stanzaID, Namespace.archive]) == false }
  /// It removes forged occupant-ids (XEP-0421).
  public var vouchesForOccupants: Bool { features?.contains(Namespace.occupantID) ?? false }

  /// Until then nothing heard, and it is asked whether we are still there.
  static let silence = Duration.seconds(600)
  private static let patience = Duration.seconds(60)
  /// A stay that lasts so long was none that failed.
  private static let stable = Duration.seconds(600)
  private static let mostAlternatives = 4
  private static let mostDoubts = 3

  // MARK: - In and out

  mutating func enter(_ new: State, now: ContinuousClock.Instant) {
    if state != new { since = now }
    state = new
    guard new != .joined else { return }
    isReady = false
    isOpen = false
    isLocked = false
  }

  /// There is a stream, and on it we are in no room, or don't know.
  mutating func begin(now: ContinuousClock.Instant) -> [RoomAction] {
    people.forgetAll()
    features = nil
    isPinged = false
    alternatives = 0
    nick = entry.nick
    return ask(now: now)
  }

  /// The stream goes on: what was under way is answered yet.
  mutating func resume(now: ContinuousClock.Instant) -> [RoomAction] {
    // An answer that came to nothing meanwhile is not waited for.
    isPinged = false
    switch state {
    case .joined:
      let asked = ping(now: now)
      if !isReady { due = now.advanced(by: Self.patience) }
      return asked + (isLocked ? [acceptDefaults] : []) + (hasAnswered ? [] : [askFromWithin()])
    case .asking, .joining: due = now.advanced(by: Self.patience)
    case .waiting: break
    case .offline: return begin(now: now)
    }
    return []
  }

  private mutating func ask(now: ContinuousClock.Instant) -> [RoomAction] {
    enter(.asking, now: now)
    features = nil
    hasAnswered = false
    attempt += 1
    due = now.advanced(by: Self.patience)
    return [.request(RoomRequest(room: address, topic: .info, to: address, attempt: attempt))]
  }

  /// Asks to be let in; also where we are in it, as far as we know: then the room tells all anew.
  private mutating func join(now: ContinuousClock.Instant) -> [RoomAction] {
    guard let place = try? address.with(resource: nick) else { return fail(RoomFailure(.nickRefused), now: now) }
    people.forgetAll()
    isPast = false
    hasMark = false
    isPinged = false
    doubts = 0
    nick = place.resource ?? nick
    enter(.joining, now: now)
    due = now.advanced(by: Self.patience)
    var presence = Presence(.available, to: place)
    presence.join = RoomJoin(password: entry.password, history: history)
    tellsPast = history != .nothing
    return [.tell(.entering(address)), .send(presence.element)]
  }

  private var history: RoomJoin.History {
    guard !hasArchive, let knownUntil else { return .nothing }
    return .since(knownUntil)
  }

  /// What `entry` says has changed.
  mutating func update(_ new: RoomEntry, now: ContinuousClock.Instant) -> [RoomAction] {
    let old = entry
    entry = new
    guard old.nick != new.nick || old.password != new.password else { return [] }
    switch state {
    case .offline: nick = new.nick
    case .joined: return old.nick == new.nick ? [] : rename(to: new.nick)
    case .asking: nick = new.nick
    case .joining, .waiting:
      told = nil
      failures = 0
      return begin(now: now)
    }
    return []
  }

  /// Tries at once what is tried later. One that is asked for may be made, too.
  mutating func retry(now: ContinuousClock.Instant) -> [RoomAction] {
    guard case .waiting = state else { return [] }
    isDestroyed = false
    told = nil
    return begin(now: now)
  }

  private func rename(to nick: String) -> [RoomAction] {
    guard let place = try? address.with(resource: nick) else { return [] }
    return [.send(Presence(.available, to: place).element)]
  }

  /// Goodbye.
  func farewell() -> [RoomAction] {
    switch state {
    case .offline, .waiting: return []
    case .asking, .joining, .joined:
      return [.send(Presence(.unavailable, to: ownPlace ?? address).element)]
    }
  }

  private mutating func fail(_ failure: RoomFailure, now: ContinuousClock.Instant) -> [RoomAction] {
    if isJoined, since.duration(to: now) >= Self.stable { failures = 0 }
    let delay = failure.patience.delay(afterFailures: failures)
    failures += 1
    if failure.cause == .destroyed { isDestroyed = true }
    people.forgetAll()
    isPinged = false
    nick = entry.nick
    alternatives = 0
    let isNews = told != failure.cause
    told = failure.cause
    enter(.waiting(failure), now: now)
    due = now.advanced(by: delay)
    return [.tell(.failed(address, failure, retry: delay, isNews: isNews))]
  }

  // MARK: - Time

  /// `due` has come.
  mutating func tick(now: ContinuousClock.Instant) -> [RoomAction] {
    guard let due, due <= now else { return [] }
    switch state {
    case .offline:
      self.due = nil
      return []
    case .asking: return isDestroyed ? fail(RoomFailure(.destroyed), now: now) : join(now: now)
    case .joining: return fail(RoomFailure(.noAnswer), now: now)
    case .waiting: return ask(now: now)
    // The past does not end: it is not waited for any longer.
    case .joined where !isReady: return becomeReady(now: now)
    case .joined:
      let end = lastHeard.advanced(by: Self.silence)
      if end > now, doubts == 0 {
        self.due = end
        return []
      }
      return ping(now: now)
    }
  }

  /// Our address there. A nickname that the room has given may be one that we could not choose.
  private var ownPlace: JID? { try? address.with(receivedResource: nick) }

  /// XEP-0410: whether we are still in it.
  private mutating func ping(now: ContinuousClock.Instant) -> [RoomAction] {
    due = now.advanced(by: Self.silence)
    guard !isPinged, let place = ownPlace else { return [] }
    isPinged = true
    pings += 1
    return [.request(RoomRequest(room: address, topic: .selfPing, to: place, attempt: pings))]
  }

  // MARK: - Answers

  mutating func answered(
    _ request: RoomRequest, _ result: Result<IQ, StanzaError>, now: ContinuousClock.Instant
  ) -> [RoomAction] {
    switch request.topic {
    case .info where request.attempt == attempt: return informed(result, now: now)
    case .selfPing where request.attempt == pings && isPinged: return pinged(result, now: now)
    case .acceptDefaults:
      isLocked = false
      guard case .failure(let error) = result else { return [] }
      return [.tell(.notConfigured(address, RoomFailure.harmless(error.description) ?? ""))]
    default: return []
    }
  }

  private mutating func informed(_ result: Result<IQ, StanzaError>, now: ContinuousClock.Instant) -> [RoomAction] {
    guard state == .asking || state == .joined, !hasAnswered else { return [] }
    hasAnswered = true
    if case .success(let iq) = result, let info = iq.payload.flatMap(DiscoInfo.init) { features = info.features }
    if isJoined { return readyIfPast(now: now) }
    // It was destroyed, and nobody has made it again: that is not for the bot to do.
    if isDestroyed, features == nil { return fail(RoomFailure(.destroyed), now: now) }
    isDestroyed = false
    return join(now: now)
  }

  /// Section 3.1 of XEP-0410. "Not found" means that our nickname is just changing, or that there is no room at all: asking to be
  /// let in is right for both.
  private mutating func pinged(_ result: Result<IQ, StanzaError>, now: ContinuousClock.Instant) -> [RoomAction] {
    isPinged = false
    guard isJoined else { return [] }
    guard case .failure(let error) = result else {
      heard(now: now)
      return []
    }
    switch error.condition {
    case .serviceUnavailable, .featureNotImplemented: heard(now: now)
    case .remoteServerTimeout, .remoteServerNotFound, .recipientUnavailable:
      doubts += 1
      if doubts >= Self.mostDoubts { return ask(now: now) }
      due = now.advanced(by: Self.patience)
    default: return ask(now: now)
    }
    return []
  }

  /// Something that happened makes it doubtful whether we are still there.
  mutating func doubt(now: ContinuousClock.Instant) -> [RoomAction] { isJoined ? ping(now: now) : [] }

  private mutating func heard(now: ContinuousClock.Instant) {
    lastHeard = now
    doubts = 0
  }

  // MARK: - Presences

  mutating func received(_ presence: Presence, now: ContinuousClock.Instant) -> [RoomAction] {
    guard state != .offline else { return [] }
    heard(now: now)
    if presence.kind == .error { return refused(presence.error ?? StanzaError(.cancel, .undefinedCondition), now: now) }
    guard let place = presence.from, let speaker = place.resource else { return [] }
    let isMarked = presence.room?.status.contains(RoomUser.Status.isSelf) == true
    let isOurs = isMarked || isOur(speaker)
    switch presence.kind {
    // A service of old marks nothing.
    case .available where isMarked || isOurs && !hasMark:
      if isMarked { hasMark = true }
      return arrived(at: place, as: speaker, presence, now: now)
    case .available: return isIn ? told(people.enter(place, presence, vouched: vouchesForOccupants)) : []
    case .unavailable: return isOurs ? gone(place, presence.room, now: now) : forget(place, presence.room)
    default: return []
    }
  }

  private var isIn: Bool { state == .joining || state == .joined }
  /// Byte for byte: names that only look alike are different people.
  private func isOur(_ speaker: String) -> Bool { speaker.utf8.elementsEqual(nick.utf8) }

  /// Who was there before us is no news.
  private func told(_ change: (Occupant, OccupantChange)?) -> [RoomAction] {
    guard isJoined, let change else { return [] }
    return [.tell(.occupant(address, change.0, change.1))]
  }

  private func newPlace(_ user: RoomUser?) -> JID? {
    guard let user, user.status.contains(RoomUser.Status.nickChanged), let new = user.nick else { return nil }
    return try? address.with(receivedResource: new)
  }

  private mutating func forget(_ place: JID, _ user: RoomUser?) -> [RoomAction] {
    let old = place.resource ?? ""
    let actions: [RoomAction]
    if let new = newPlace(user) {
      actions = told(people.rename(place, to: new).map { ($0, .renamed(from: old)) })
    } else {
      let end = user.map(RoomFailure.init(end:))
      let reason = end.flatMap { $0.cause == .ended ? $0.detail : $0.wordsOfOthers }
      actions = told(people.leave(place).map { ($0, .left(reason: reason)) })
    }
    // The one who had our nickname has gone.
    let isFree = isJoined && alternatives > 0 && old.utf8.elementsEqual(entry.nick.utf8)
    return actions + (isFree ? rename(to: entry.nick) : [])
  }

  private mutating func arrived(
    at place: JID, as speaker: String, _ presence: Presence, now: ContinuousClock.Instant
  ) -> [RoomAction] {
    guard isIn else { return [] }
    _ = people.enter(place, presence, vouched: vouchesForOccupants)
    let isRenamed = !isOur(speaker)
    if isRenamed, isJoined, let old = try? address.with(receivedResource: nick) { _ = people.leave(old) }
    nick = speaker
    if nick == entry.nick { alternatives = 0 }
    guard state == .joining else { return isRenamed ? [.tell(.renamed(address, nick: speaker))] : [] }
    told = nil
    enter(.joined, now: now)
    due = now.advanced(by: Self.silence)
    let isNew = presence.room?.status.contains(RoomUser.Status.created) == true
    var actions: [RoomAction] = [.tell(.joined(address, nick: speaker, isNew: isNew))]
    if isNew {
      isLocked = true
      actions.append(acceptDefaults)
    }
    if features != nil { return actions + readyIfPast(now: now) }
    // Before there was a room, or for those outside, there was no answer.
    return actions + [askFromWithin()]
  }

  private var acceptDefaults: RoomAction {
    .request(RoomRequest(room: address, topic: .acceptDefaults, to: address, attempt: attempt))
  }

  private mutating func askFromWithin() -> RoomAction {
    attempt += 1
    hasAnswered = false
    return .request(RoomRequest(room: address, topic: .info, to: address, attempt: attempt))
  }

  /// What was said before we came may hold what we said ourselves, and do not know to have arrived: it is waited for.
  private mutating func readyIfPast(now: ContinuousClock.Instant) -> [RoomAction] {
    if hasArchive || isPast || !tellsPast { return becomeReady(now: now) }
    due = now.advanced(by: Self.patience)
    return []
  }

  private mutating func becomeReady(now: ContinuousClock.Instant) -> [RoomAction] {
    guard !isReady else { return [] }
    isReady = true
    due = now.advanced(by: Self.silence)
    return [.tell(.ready(address))]
  }

  private mutating func gone(_ place: JID, _ user: RoomUser?, now: ContinuousClock.Instant) -> [RoomAction] {
    if let new = newPlace(user), let name = new.resource {
      _ = people.rename(place, to: new)
      nick = name
      return [.tell(.renamed(address, nick: name))]
    }
    // An earlier stay may end while we ask to be let in again.
    guard isJoined else { return [] }
    return fail(RoomFailure(end: user ?? RoomUser()), now: now)
  }

  private mutating func refused(_ error: StanzaError, now: ContinuousClock.Instant) -> [RoomAction] {
    switch state {
    case .joining where error.condition == .conflict && alternatives < Self.mostAlternatives:
      alternatives += 1
      nick = entry.nick + String(repeating: "_", count: alternatives)
      return join(now: now)
    case .joining: return fail(RoomFailure(error), now: now)
    // Another nickname was asked for, and this is all that comes of it. Anything else makes the stay doubtful.
    case .joined: return error.condition == .conflict ? [] : ping(now: now)
    case .offline, .asking, .waiting: return []
    }
  }

  // MARK: - Messages

  mutating func received(_ message: Message, now: ContinuousClock.Instant) -> RoomMessage? {
    switch state {
    case .offline, .waiting: return nil
    case .asking, .joining, .joined: heard(now: now)
    }
    let speaker = message.from?.resource
    var said = RoomMessage(room: address, origin: origin(of: message, speaker), nick: speaker, message: message)
    if !vouchesForIDs { said.message.stanzaIDs = [] }
    if !vouchesForOccupants { said.message.occupantID = nil }
    said.occupantID = said.message.occupantID
    if said.origin != .history, let occupant = message.from.flatMap({ people[$0] }) {
      said.address = occupant.address
      said.affiliation = occupant.affiliation
      said.role = occupant.role
    }
    if message.isSubject, let text = message.subject {
      subject = RoomFailure.harmless(text)
      isPast = true
      // Once this message has been passed on.
      if isJoined, !isReady, hasAnswered { due = now }
    }
    return said
  }

  /// Section 7.2.13: a room stamps what it tells of earlier, and tells it before the subject. A stamp that comes later may be the
  /// sender's own, but never one that the room gave.
  private func origin(of message: Message, _ speaker: String?) -> RoomMessage.Origin {
    // The subject of the room, as it is told to whoever comes.
    if !isPast, message.isSubject { return .history }
    if let delay = message.delay {
      let giver = delay.from.flatMap { try? JID(received: $0) }
      if !isPast || giver?.isSameAccount(as: address) == true { return .history }
    }
    return speaker.map(isOur) == true ? .reflection : .live
  }

  func archived(_ result: ArchivedMessage) -> RoomMessage {
    var message = result.message
    if !vouchesForOccupants { message.occupantID = nil }
    var said = RoomMessage(room: address, origin: .archived, nick: message.from?.resource, message: message)
    said.occupantID = message.occupantID
    return said
  }
}

extension Message {
  /// It changes a room's subject (XEP-0045 section 8.1), and says nothing else.
  fileprivate var isSubject: Bool { subject != nil && body == nil }
}
