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
  /// The session as XEP-0198 sees it; it outlives its streams.
  private var management: StreamManagement?
  /// The full address that the managed session has.
  private var boundJID: JID?
  /// The managed session is an earlier process's, and not yet taken up.
  private var isForeign = false
  private var epoch = 0
  /// What the attempt under way tells the server that we have.
  private var toldHandled: UInt32 = 0
  /// When the question was asked that the server has not answered.
  private var questionAsked: ContinuousClock.Instant?
  /// So many streams in a row ended because of what the server sent at the same place.
  private var violations = 0
  private var lastFailure: StreamFailure?
  private var suspicion = Suspicion()
  private var confirmation = PingConfirmation()
  /// Set while a stream that we end ourselves comes to its end: what is to follow.
  private var afterwards: Afterwards?

  private enum Afterwards { case stop, suspend, reconnect }

  /// More than this that the server has not taken, and requests get no answers: who asks does not listen.
  private static let answerLimit = 1_048_576

  /// `suspended`: the stream of an earlier process, to be resumed if the server still has it.
  public init(
    _ options: SessionOptions, roster: Roster, suspended: SuspendedStream? = nil, environment: SessionEnvironment
  ) {
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
    guard let suspended, suspended.jid.isSameAccount(as: options.account) else { return }
    management = StreamManagement(suspended: suspended, epoch: 0)
    boundJID = suspended.jid
    isForeign = true
    origin = OriginPolicy(own: suspended.jid)
    origin.trustsAccountIDs = suspended.trustsAccountIDs
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

  /// Leaves the stream so that another process can resume it, if the server allows; says goodbye if not. The delegate
  /// hears `.stopped` as after `stop`.
  public func suspend() {
    guard isOnline, let management, management.id != nil else { return stop() }
    reconnectTimer = nil
    afterwards = .suspend
    link?.send(management.lastAnswer)
    link?.detach()
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
      if isOnline {
        transmit(Presence(.unavailable).element)
        if let management { link.send(management.lastAnswer) }
        askForConfirmation()
      }
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

  /// The resource that the server gave us last.
  public var boundResource: String? { boundJID?.resource }

  /// Stanzas can be sent.
  public var isOnline: Bool {
    guard case .online = state, let link else { return false }
    return !link.isFinishing
  }

  /// Bytes written that the system has not yet taken.
  public var unsentBytes: Int { link?.unsentBytes ?? 0 }

  // MARK: - Sending

  /// Sends a stanza when online; false when not. `token`: what `acknowledged` will call it.
  @discardableResult
  public func send(_ element: Element, token: String? = nil) -> Bool {
    guard isOnline else { return false }
    transmit(element, token: token)
    return true
  }

  private func transmit(_ element: Element, token: String? = nil) {
    if management != nil {
      management?.send(element, token: token, at: token == nil ? 0 : environment.wallClock())
    } else if let token {
      confirmation.sent(token)
    }
    link?.send(element)
  }

  /// Too much is on its way that the server has not confirmed: nothing new should be sent.
  public var isCongested: Bool { management?.isCongested ?? confirmation.isCongested }
  /// Stanzas that the server has not confirmed.
  public var unconfirmed: Int { management?.unacknowledged ?? confirmation.count }

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
    transmit(IQ(kind, id: id, to: to, payload: payload).element)
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
    var account = StreamMachine.Account(
      jid: options.account, resource: options.resource, credentials: environment.credentials())
    var request = redirects.last ?? options.request
    if let management, let boundJID, let resumption = management.resumption {
      account.resumption = (resumption, boundJID)
      toldHandled = resumption.handled
      // Where the session is (XEP-0198 section 5), unless that was tried in vain.
      if !withNextServer, policy.failures == 0, let place = management.location.flatMap(request.redirected) {
        request = place
      }
    }
    let link = StreamLink(
      account, request: request, dialer: environment.dialer, scheduler: environment.scheduler
    ) { [weak self] event in
      self?.handle(event)
    }
    link.onHeard = { [weak self] in self?.heard() }
    link.onTurnEnds = { [weak self] in self?.askForConfirmation() }
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
    case .resumptionFailed(let h): resumptionFailed(h)
    case .online(let jid, let features, .new(let enabled)): begin(jid, features, enabled: enabled)
    case .online(let jid, let features, .resumed(let h)): resume(jid, features, h)
    case .management(let element): receiveManagement(element)
    case .early(let element): receive(element, nil)
    case .element(let element): count { receive(element, $0) }
    case .skipped(let element, let reason):
      count { number in
        refuse(
          element, "a stanza from \(element["from"] ?? "the server"): \(reason)", StanzaError(.modify, .notAcceptable))
        take(number)
      }
    case .ended(let failure): ended(failure)
    }
  }

  /// A new session, managed if the server has `enabled` that.
  private func begin(_ jid: JID, _ features: StreamFeatures, enabled: Element?) {
    forgetRequests()
    epoch += 1
    management = enabled.map { StreamManagement(enabled: $0, epoch: epoch) }
    confirmation = PingConfirmation()
    boundJID = jid
    isForeign = false
    origin = OriginPolicy(own: jid)
    tracker.bind(to: jid)
    photo = nil
    storeStream()
    online(jid, features, .new)
  }

  /// What makes us known on a new stream, and on that of an earlier process.
  private func introduce(_ features: StreamFeatures) {
    // Before presence, upon which the server sends what it kept for us: whose ids count is known by then.
    discover()
    requestRoster(isVersioned: features.rosterVersioning)
    sendPresence()
  }

  private func online(_ jid: JID, _ features: StreamFeatures, _ continuity: OnlineInfo.Continuity) {
    let now = environment.scheduler.now
    policy.online(at: now)
    questionAsked = nil
    keepalive = Keepalive(interval: options.keepaliveInterval, timeout: options.keepaliveTimeout, now: now)
    if let login = link?.login { environment.loggedIn(login) }
    if isReadingPaused { link?.setReading(false) }
    turn {
      enter(
        .online(
          OnlineInfo(continuity: continuity, jid: jid, security: security, login: link?.login, since: now)))
      if continuity != .resumed { introduce(features) }
    }
    checkKeepalive()
  }

  private func forgetRequests() {
    trackerTimer = nil
    let lost = tracker.removeAll()
    for completion in lost { completion(.failure(StanzaError(.wait, .recipientUnavailable, "the stream ended"))) }
  }

  private func ended(_ failure: StreamFailure) {
    link = nil
    keepalive = nil
    keepaliveTimer = nil
    countViolations(failure)
    if case .online = state { lastFailure = failure }
    if case .stopped = failure { settle() }
    // Answers may still come on the stream that resumes this one.
    if management?.id == nil { forgetRequests() }
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

  private func receive(_ element: Element, _ number: StreamManagement.HandledCount?) {
    let stanza: Stanza?
    do {
      stanza = try Stanza(element)
    } catch {
      take(number)
      return refuse(element, error.description, StanzaError(.modify, .badRequest))
    }
    guard let stanza else {
      return link?.close(
        .violation(StreamError("unsupported-stanza-type", "<\(element.name)/>")),
        error: StreamError("unsupported-stanza-type")) ?? ()
    }
    switch origin.admit(stanza) {
    case .message(let message): return delegate?.session(self, received: message, as: element, number: number) ?? ()
    case .carbon(let carbon): return delegate?.session(self, received: carbon, number: number) ?? ()
    case .archived(let message): return delegate?.session(self, received: message, number: number) ?? ()
    case .presence(let presence): receive(presence)
    case .rosterPush(let iq, let query): receivePush(iq, query)
    case .request(let iq): answer(iq)
    case .answer(let iq): resolve(iq)
    case .ignored: break
    case .refused(let reason): delegate?.session(self, noticed: .refused(reason))
    }
    take(number)
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
          if entity == account {
            origin.trustsAccountIDs = Self.vouchesForIDs(info.features)
            storeStream()
          }
        }
        awaited -= 1
        guard awaited == 0, isOnline else { return }
        profileStore = store
        publishProfile()
        enableCarbons()
        delegate?.sessionDiscovered(self)
      }
    }
  }

  private func enableCarbons() {
    guard serverFeatures.contains(Namespace.carbons) else { return }
    request(.set, Carbon.enable) { [weak self] result in
      if case .success = result { self?.origin.expectsCarbons = true }
    }
  }

  /// Asks an archive for a page (XEP-0313): its results come to the delegate, then its end to `completion`.
  /// - Parameter archive: our own account, or a room.
  public func query(
    _ query: ArchiveQuery, in archive: JID, completion: @escaping @LoopActor (Result<ArchiveFin, StanzaError>) -> Void
  ) {
    origin.expectResults(queryID: query.queryID, from: archive)
    request(
      .set, to: archive == options.account ? nil : archive, query.element, timeout: .seconds(120)
    ) { [weak self] answer in
      self?.origin.stopExpecting(queryID: query.queryID)
      do throws(StanzaError) {
        completion(.success(try ArchiveFin(answer: answer)))
      } catch {
        completion(.failure(error))
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
    if hasWaitedTooLong(now) { return link?.abort(.silent) ?? () }
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

  // MARK: - Stream management (XEP-0198)

  /// Takes the number of a stanza that came in; not at all if it was here before the stream was resumed.
  private func count(_ body: (StreamManagement.HandledCount?) -> Void) {
    guard management != nil else { return body(nil) }
    if let number = management?.receive() { body(number) }
  }

  /// The stanza of this number is taken care of without being stored.
  public func take(_ number: StreamManagement.HandledCount?) {
    if let number { management?.take(number) }
  }

  /// The message of this number is handed to the archive now: the count to store in the same transaction, and to give to
  /// `stored` afterwards.
  public func handOver(_ number: StreamManagement.HandledCount?) -> StreamManagement.HandledCount? {
    number.flatMap { management?.store(with: $0) }
  }

  /// This count is stored: the server may forget so many.
  public func stored(_ count: StreamManagement.HandledCount) {
    perform(management?.stored(count) ?? [])
  }

  private func receiveManagement(_ element: Element) {
    guard management != nil else {
      return link?.close(.violation(StreamError("unsupported-stanza-type", "<\(element.name)/>"))) ?? ()
    }
    perform(management?.received(element) ?? [])
    if management?.isWaiting == false { questionAsked = nil }
  }

  private func perform(_ actions: [StreamManagement.Action]) {
    for action in actions {
      switch action {
      case .send(let element): if isOnline { link?.send(element) }
      case .store(let count): delegate?.session(self, stores: count)
      case .acknowledged(let tokens): delegate?.session(self, acknowledged: tokens)
      case .violation(let error): link?.close(.violation(error), error: error)
      }
    }
  }

  /// With what a turn sends goes the question whether the server has it.
  private func askForConfirmation() {
    guard isOnline, let link else { return }
    if management != nil {
      guard let question = management?.question() else { return }
      questionAsked = environment.scheduler.now
      link.send(question)
    } else if confirmation.ask() {
      // A server handles a client's stanzas in order (RFC 6120 section 10.1): when it answers this, it has the others.
      request(.get, to: options.account.server, Element("ping", Namespace.ping)) { [weak self] result in
        guard let self else { return }
        switch result {
        case .failure(let error) where [.remoteServerTimeout, .recipientUnavailable].contains(error.condition):
          return confirmation.unanswered()
        default: break
        }
        let tokens = confirmation.answered()
        if !tokens.isEmpty { delegate?.session(self, acknowledged: tokens) }
        turn { askForConfirmation() }
      }
    }
  }

  private func hasWaitedTooLong(_ now: ContinuousClock.Instant) -> Bool {
    guard !isReadingPaused, let questionAsked else { return false }
    return questionAsked.duration(to: now) > options.keepaliveInterval + options.keepaliveTimeout
  }

  /// The stream goes on where the last one ended.
  private func resume(_ jid: JID, _ features: StreamFeatures, _ h: UInt32) {
    let continuity: OnlineInfo.Continuity = isForeign ? .adopted : .resumed
    isForeign = false
    tracker.bind(to: jid)
    perform(management?.resumed(h: h, told: toldHandled) ?? [])
    blame()
    turn {
      for element in management?.resend(from: jid) ?? [] { link?.send(element) }
      online(jid, features, continuity)
    }
  }

  private func resumptionFailed(_ h: UInt32?) {
    perform(management?.failed(h: h) ?? [])
    blame()
    management = nil
    isForeign = false
    forgetRequests()
  }

  /// If the last stream died, it may have been over the first stanza that the server does not have.
  private func blame() {
    switch lastFailure {
    case .closed, .connectionLost, .streamError: break
    default: return
    }
    lastFailure = nil
    guard let stanza = management?.first, suspicion.condemns(stanza.element, token: stanza.token) else { return }
    management?.dropFirst()
    delegate?.session(self, noticed: .setAside(stanza.element))
    if let token = stanza.token { delegate?.session(self, setAside: token) }
  }

  /// What the server sends may be such that the stream can't go on; resumed, it would get the same again for ever.
  private func countViolations(_ failure: StreamFailure) {
    guard case .online = state, case .violation(let error) = failure else { return violations = 0 }
    violations += 1
    guard violations >= Suspicion.limit, let count = management?.skipNext() else { return }
    violations = 0
    delegate?.session(self, noticed: .skippedUnreadable(error))
    delegate?.session(self, stores: count)
  }

  private func storeStream() {
    guard let management, let id = management.id, let boundJID else {
      return delegate?.session(self, stores: nil as SuspendedStream?) ?? ()
    }
    let stream = SuspendedStream(
      id: id, jid: boundJID, location: management.location, handled: management.storedCount,
      trustsAccountIDs: origin.trustsAccountIDs)
    delegate?.session(self, stores: stream)
  }

  /// The stream ended because we wanted it to.
  private func settle() {
    guard afterwards != .suspend, management != nil else { return }
    management = nil
    storeStream()
  }
}
