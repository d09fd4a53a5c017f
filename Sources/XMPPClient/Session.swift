import Crypto
import EventLoop
import JID
import Transport
import XML
import XMPPStanzas
import XMPPStream

/// The owner of the account's stream: keeps it online for ever, answers what the protocol asks, and hands what is for
/// the bot to its delegate.
///
/// Everything decided here is decided by pure machines: `StreamMachine`, `Keepalive`, `ReconnectPolicy`,
/// `OriginPolicy`, `IQTracker`.
@LoopActor
public final class Session {
  public private(set) var options: SessionOptions
  public weak var delegate: (any SessionDelegate)?
  /// What the account's server told of itself and of the account.
  public private(set) var serverFeatures: Set<String> = []
  /// Our contacts, as the server last told.
  public internal(set) var roster: Roster

  let environment: SessionEnvironment
  var subscriptions = SubscriptionThrottle()
  /// Known once the server has said what it can do.
  private(set) var profileStore: ProfileStore?
  var photo: VCardPhoto?
  private let responders: [any RequestResponder]
  private let ownInfo: DiscoInfo
  private let caps: Caps
  private var state = SessionState.stopped
  private var link: StreamLink?
  private var policy = ReconnectPolicy()
  private var origin: OriginPolicy
  private var tracker: IQTracker<@LoopActor (Result<IQ, StanzaError>) -> Void>
  private var keepalive: Keepalive?
  private var keepaliveTimer: (any ScheduledWork)?
  private var trackerTimer: (work: any ScheduledWork, due: ContinuousClock.Instant)?
  private var reconnectTimer: (any ScheduledWork)?
  private var redirects: [ConnectionRequest] = []
  private var ids: StanzaIDs
  private var isReadingPaused = false
  private var security: TLSInfo?
  /// Set while a stream that we end ourselves comes to its end: what is to follow.
  private var afterwards: Afterwards?

  private enum Afterwards { case stop, reconnect }

  /// More than this that the server has not taken, and requests get no answers: who asks does not listen.
  private static let answerLimit = 1_048_576

  public init(_ options: SessionOptions, roster: Roster, environment: SessionEnvironment) {
    self.options = options
    self.roster = roster
    self.environment = environment
    responders = Self.responders(options.software)
    ownInfo = DiscoInfo(
      identities: [.init(category: "client", type: "bot", name: options.software.name)],
      features: Set(responders.flatMap(\.features)).union([Namespace.caps, Namespace.chatStates]))
    caps = Caps(node: options.software.node, info: ownInfo)
    origin = OriginPolicy(own: options.account)
    tracker = IQTracker(own: options.account)
    ids = StanzaIDs(random: environment.randomIdentifier())
  }

  // MARK: - Life

  /// Connects, and from now on stays online.
  public func start() {
    guard case .stopped = state else { return }
    connect()
  }

  /// Says goodbye, takes what is still under way, and closes the stream; within two seconds the delegate hears
  /// `.stopped`.
  public func stop() {
    reconnectTimer = nil
    afterwards = .stop
    finishStream()
  }

  /// Ends the stream, if there is one, and connects anew at once. Nothing happens to a session that was stopped.
  public func reconnect() {
    if case .stopped = state { return }
    guard afterwards == nil else { return }
    policy = ReconnectPolicy()
    redirects = []
    afterwards = .reconnect
    finishStream()
  }

  private func finishStream() {
    guard let link else { return ended(.stopped) }
    link.turn {
      if isOnline { link.send(Presence(.unavailable).element) }
      link.finish()
    }
  }

  /// Takes up what may change while the stream stands; account, resource and server with the next stream.
  public func update(_ new: SessionOptions) {
    let old = options
    options = new
    guard isOnline else { return }
    let looksDifferent =
      new.status != old.status || new.priority != old.priority || new.nickname != old.nickname
    keepalive = Keepalive(
      interval: new.keepaliveInterval, timeout: new.keepaliveTimeout, now: environment.scheduler.now)
    checkKeepalive()
    turn {
      if looksDifferent { sendPresence() }
      if new.nickname != old.nickname || new.avatar != old.avatar { publishProfile(insteadOf: old) }
    }
  }

  /// The network changed: if we wait for a fault to pass, this may have been it; if we are online, perhaps only seemingly.
  public func networkChanged() {
    switch state {
    case .waiting(let failure, _): if failure.severity == .transient { connect() }
    case .online:
      keepalive?.doubt(at: environment.scheduler.now)
      checkKeepalive()
    case .connecting, .stopped: break
    }
  }

  /// Stanzas can be sent.
  public var isOnline: Bool {
    guard case .online = state, let link else { return false }
    return !link.isFinishing
  }

  /// Bytes written that the system has not yet taken.
  public var unsentBytes: Int { link?.unsentBytes ?? 0 }

  // MARK: - Sending

  /// Sends a stanza when online; false when not.
  @discardableResult
  public func send(_ element: Element) -> Bool {
    guard isOnline, let link else { return false }
    link.send(element)
    return true
  }

  /// Gathers all that `body` sends into one write.
  public func turn(_ body: () -> Void) {
    if let link { link.turn(body) } else { body() }
  }

  /// A new id for a message of ours.
  public func newID() -> String { ids.next() }

  /// Sends a request; the answer, an error, or `remote-server-timeout` comes to `completion`.
  public func request(
    _ kind: IQ.Kind, to: JID? = nil, _ payload: Element, timeout: Duration = .seconds(30),
    completion: @escaping @LoopActor (Result<IQ, StanzaError>) -> Void
  ) {
    let id = environment.randomIdentifier()
    let deadline = environment.scheduler.now.advanced(by: timeout)
    guard isOnline, tracker.expect(id: id, from: to, until: deadline, completion) else {
      return completion(.failure(StanzaError(.wait, .recipientUnavailable)))
    }
    link?.send(IQ(kind, id: id, to: to, payload: payload).element)
    watchRequests()
  }

  /// While paused nothing is read from the server, which will feel it.
  public func setReading(_ isReading: Bool) {
    isReadingPaused = !isReading
    // A login is read to its end.
    guard case .online = state else { return }
    link?.setReading(isReading)
    if isReading { heard() }
  }

  // MARK: - Connecting

  private func connect(withNextServer: Bool = false) {
    reconnectTimer = nil
    security = nil
    enter(.connecting)
    let account = StreamMachine.Account(
      jid: options.account, resource: options.resource, credentials: environment.credentials())
    let link = StreamLink(
      account, request: redirects.last ?? options.request, dialer: environment.dialer, scheduler: environment.scheduler
    ) { [weak self] event in
      self?.handle(event)
    }
    link.onHeard = { [weak self] in self?.heard() }
    link.onDrained = { [weak self] in
      guard let self else { return }
      delegate?.sessionDrained(self)
    }
    if let trace = environment.trace { link.trace = trace }
    self.link = link
    link.start(withNextServer: withNextServer)
  }

  private func handle(_ event: StreamLink.Event) {
    switch event {
    case .connected(let endpoint): delegate?.session(self, noticed: .connected(endpoint))
    case .secured(let info): security = info
    case .features: break
    case .online(let jid, let features): online(jid, features)
    case .element(let element): receive(element)
    case .skipped(let element, let reason):
      refuse(
        element, "a stanza from \(element["from"] ?? "the server"): \(reason)", StanzaError(.modify, .notAcceptable))
    case .ended(let failure): ended(failure)
    }
  }

  private func online(_ jid: JID, _ features: StreamFeatures) {
    let now = environment.scheduler.now
    policy.online(at: now)
    origin = OriginPolicy(own: jid)
    tracker.bind(to: jid)
    photo = nil
    keepalive = Keepalive(interval: options.keepaliveInterval, timeout: options.keepaliveTimeout, now: now)
    if let login = link?.login { environment.loggedIn(login) }
    if isReadingPaused { link?.setReading(false) }
    enter(.online(OnlineInfo(jid: jid, security: security, login: link?.login, since: now)))
    turn {
      // Before presence, upon which the server sends what it kept for us: whose ids count is known by then.
      discover()
      requestRoster(isVersioned: features.rosterVersioning)
      sendPresence()
    }
    checkKeepalive()
  }

  private func ended(_ failure: StreamFailure) {
    link = nil
    keepalive = nil
    keepaliveTimer = nil
    trackerTimer = nil
    let lost = tracker.removeAll()
    for completion in lost { completion(.failure(StanzaError(.wait, .recipientUnavailable, "the stream ended"))) }
    if case .stopped = failure { return stopped() }
    if case .redirected(let host) = failure, follow(host) { return connect() }
    if case .connecting = state, failure.concernsOneServer, environment.dialer.hasNext {
      delegate?.session(self, noticed: .triesNextServer(failure))
      return connect(withNextServer: true)
    }
    redirects = []
    let delay = policy.delay(after: failure, at: environment.scheduler.now, random: environment.random())
    enter(.waiting(failure, delay))
    guard case .waiting = state else { return }
    reconnectTimer = environment.scheduler.schedule(after: delay) { [weak self] in self?.connect() }
  }

  private func stopped() {
    defer { afterwards = nil }
    if afterwards == .reconnect { connect() } else { enter(.stopped) }
  }

  /// The same identity rules hold there: the certificate must be for our domain (RFC 6120 section 4.9.3.19).
  private func follow(_ host: String) -> Bool {
    if policy.isHealthy(at: environment.scheduler.now) { redirects = [] }
    guard redirects.count < 5, let request = options.request.redirected(to: host) else { return false }
    redirects.append(request)
    delegate?.session(self, noticed: .redirected(host))
    return true
  }

  private func enter(_ new: SessionState) {
    state = new
    delegate?.session(self, entered: new)
  }

  // MARK: - Receiving

  private func receive(_ element: Element) {
    let stanza: Stanza?
    do {
      stanza = try Stanza(element)
    } catch {
      return refuse(element, error.description, StanzaError(.modify, .badRequest))
    }
    guard let stanza else {
      return link?.close(
        .violation(StreamError("unsupported-stanza-type", "<\(element.name)/>")),
        error: StreamError("unsupported-stanza-type")) ?? ()
    }
    switch origin.admit(stanza) {
    case .message(let message): delegate?.session(self, received: message, as: element)
    case .presence(let presence): receive(presence)
    case .rosterPush(let iq, let query): receivePush(iq, query)
    case .request(let iq): answer(iq)
    case .answer(let iq): resolve(iq)
    case .ignored: break
    case .refused(let reason): delegate?.session(self, noticed: .refused(reason))
    }
  }

  private func refuse(_ element: Element, _ reason: String, _ error: StanzaError) {
    delegate?.session(self, noticed: .refused(reason))
    // A request gets an answer whatever it looks like (RFC 6120 section 8.2.3).
    guard element.name == "iq", let type = element["type"], type != "result", type != "error", let id = element["id"]
    else { return }
    sendAnswer(
      Element(
        "iq", Namespace.client, [("type", "error"), ("id", id), ("to", element["from"])], [error.element]))
  }

  /// Sends an answer to a request, unless too many wait already.
  func sendAnswer(_ element: Element) {
    if unsentBytes < Self.answerLimit { send(element) }
  }

  private func answer(_ iq: IQ) {
    guard unsentBytes < Self.answerLimit else { return }
    guard let payload = iq.payload else { return _ = send(iq.refusal(StanzaError(.modify, .badRequest))) }
    for responder in responders where responder.handles(payload) {
      let request = RequestContext(
        iq: iq, payload: payload, info: ownInfo, caps: caps, now: environment.wallClock())
      switch responder.answer(request) {
      case .success(let result): send(iq.result(result))
      case .failure(let error): send(iq.refusal(error))
      }
      return
    }
    send(iq.refusal(StanzaError(.cancel, .serviceUnavailable)))
  }

  private func resolve(_ iq: IQ) {
    guard let completion = tracker.take(iq) else {
      delegate?.session(
        self, noticed: .refused("an answer from \(iq.from?.description ?? "the server") to a request never made"))
      return
    }
    if tracker.isEmpty { trackerTimer = nil }
    completion(iq.error.map { .failure($0) } ?? .success(iq))
  }

  private func watchRequests() {
    guard let deadline = tracker.nextDeadline else { return trackerTimer = nil }
    if let trackerTimer, trackerTimer.due <= deadline { return }
    let wait = environment.scheduler.now.duration(to: deadline)
    let work = environment.scheduler.schedule(after: wait) { [weak self] in
      guard let self else { return }
      trackerTimer = nil
      for completion in tracker.expired(at: environment.scheduler.now) {
        completion(.failure(StanzaError(.wait, .remoteServerTimeout)))
      }
      watchRequests()
    }
    trackerTimer = (work, deadline)
  }

  // MARK: - Presence, service discovery

  func sendPresence() {
    var presence = Presence(.available)
    presence.status = options.status
    presence.priority = options.priority
    presence.nickname = options.nickname
    presence.caps = caps
    presence.photo = photo
    send(presence.element)
  }

  private func discover() {
    serverFeatures = []
    profileStore = nil
    let account = options.account
    var store = ProfileStore.vCard
    var awaited = 2
    for entity in [account, account.server] {
      request(.get, to: entity, DiscoInfo.request()) { [weak self] result in
        guard let self else { return }
        if case .success(let iq) = result, let info = iq.payload.flatMap(DiscoInfo.init) {
          serverFeatures.formUnion(info.features)
          // Old servers say of themselves what newer ones say of each account (XEP-0163 section 6.1).
          if info.has(identity: "pubsub", "pep") { store = .pep }
          if entity == account { origin.trustsAccountIDs = Self.vouchesForIDs(info.features) }
        }
        awaited -= 1
        guard awaited == 0, isOnline else { return }
        profileStore = store
        publishProfile()
      }
    }
  }

  /// Which of the two a server says differs between versions; both mean that it removes forged ids of the account's.
  private static func vouchesForIDs(_ features: Set<String>) -> Bool {
    !features.isDisjoint(with: [Namespace.stanzaID, Namespace.archive])
  }

  // MARK: - Keepalive

  private func heard() {
    keepalive?.heard(at: environment.scheduler.now)
  }

  private func checkKeepalive() {
    guard var keepalive else { return }
    let now = environment.scheduler.now
    // While we don't listen, silence proves nothing.
    if isReadingPaused { keepalive.heard(at: now) }
    let action = keepalive.check(at: now)
    self.keepalive = keepalive
    let next: ContinuousClock.Instant
    switch action {
    case .giveUp: return link?.abort(.silent) ?? ()
    case .wait(let time): next = time
    case .ping(let time):
      next = time
      // To the account's server: that it is there is all we want to know, any answer will do.
      request(.get, to: options.account.server, Element("ping", Namespace.ping)) { _ in }
    }
    keepaliveTimer = environment.scheduler.schedule(after: now.duration(to: next)) { [weak self] in
      self?.checkKeepalive()
    }
  }
}
