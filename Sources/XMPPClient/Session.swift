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
  public internal(set) var serverFeatures: Set<String> = []
  /// The bytes that one stanza may have (XEP-0478); nil when the server does not say.
  public private(set) var stanzaLimit: Int?
  /// Where files are uploaded to on this stream; nil: not asked yet.
  var uploadService: UploadService?
  /// Our contacts, as the server last told.
  public internal(set) var roster: Roster

  let environment: SessionEnvironment
  var subscriptions = SubscriptionThrottle()
  /// Known once the server has said what it can do.
  var profileStore: ProfileStore?
  var photo: VCardPhoto?
  let responders: [any RequestResponder]
  /// Answers what needs more than is known here.
  public weak var service: (any RequestService)?
  var openRequests = OpenRequests()
  let ownInfo: DiscoInfo
  let caps: Caps
  var state = SessionState.stopped
  var link: StreamLink?
  private var policy = ReconnectPolicy()
  var origin: OriginPolicy
  var tracker: IQTracker<@LoopActor (Result<IQ, StanzaError>) -> Void>
  var keepalive: Keepalive?
  var keepaliveTimer: (any ScheduledWork)?
  var trackerTimer: (work: any ScheduledWork, due: ContinuousClock.Instant)?
  private var reconnectTimer: (any ScheduledWork)?
  private var redirects: [ConnectionRequest] = []
  private var ids: StanzaIDs
  public internal(set) var isReadingPaused = false
  private var security: TLSInfo?
  /// The session as XEP-0198 sees it; it outlives its streams.
  var management: StreamManagement?
  /// The full address that the managed session has.
  var boundJID: JID?
  /// The managed session is an earlier process's, and not yet taken up.
  var isForeign = false
  var epoch = 0
  /// What the attempt under way tells the server that we have.
  var toldHandled: UInt32 = 0
  /// For answers while too much is on its way.
  var reserve = AnswerReserve()
  /// When the question was asked that the server has not answered.
  var questionAsked: ContinuousClock.Instant?
  /// The session was taken up, and the server has not confirmed anything on this stream.
  var isUnproven = false
  /// Something came while that question was open.
  var isHeardUnanswered = false
  var unreadable = Unreadable()
  /// What the earlier process is known to have sent on the stream that we take up.
  var foreignSent: SuspendedStream.Sent?
  /// So many times in a row was the session asked for without a good answer.
  var resumptionsRefused = 0
  /// The place that the server named was tried.
  var hasTriedLocation = false
  /// The last message that was sent on this session.
  public internal(set) var lastSent: SuspendedStream.Sent?
  /// Messages that are in doubt when the stream is resumed are given back to the owner, who looks in the account's archive
  /// for them; else they are sent again at once. To be set anew for each new session.
  public var handsBack = false
  /// The server's features are not known, and nothing asks for them.
  var needsDiscovery = false
  var lastFailure: StreamFailure?
  var suspicion = Suspicion()
  var caution = Caution()
  /// Set while a stanza is tried; until that is over, nothing else is sent.
  var trial: Trial?
  /// The stream goes on with the session of an earlier one.
  var isResumed = false
  var confirmation = PingConfirmation()
  /// Set while a stream that we end ourselves comes to its end: what is to follow.
  var afterwards: Afterwards?

  /// No other stream follows upon this one.
  private var isLast = false

  enum Afterwards { case stop, suspend, reconnect }

  /// More than this that the server has not taken, and requests get no answers: who asks does not listen.
  static let answerLimit = 1_048_576

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
      features: Set(responders.flatMap(\.features)).union(Self.messageFeatures).union(options.features))
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
    // The earlier process may have asked for them.
    origin.expectsCarbons = true
    foreignSent = suspended.sent
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
    guard let management, management.id != nil else { return stop() }
    reconnectTimer = nil
    afterwards = .suspend
    guard let link else { return ended(.stopped) }
    if isOnline { for word in self.management?.lastWords() ?? [] { link.send(word) } }
    link.detach()
  }

  /// From now on no connection is made: the owner is about to stop. What is there stays.
  public func connectNoMore() {
    isLast = true
    reconnectTimer = nil
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
        for word in management?.lastWords() ?? [] { link.send(word) }
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

  /// Somebody mended what the last attempt failed of: if we wait, an attempt is made at once.
  public func retry() {
    if case .waiting = state { connect() }
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
  /// So much is on its way to the server that what is asked now stands behind it.
  public var isOutputBehind: Bool { link.map { $0.writtenBytes - $0.deliveredBytes > Keepalive.backlog } ?? false }

  // MARK: - Sending

  /// Sends a stanza when online; false when not. `token`: what `acknowledged` will call it.
  @discardableResult
  public func send(_ element: Element, token: String? = nil) -> Bool {
    guard isOnline else { return false }
    transmit(element, token: token)
    return true
  }

  func transmit(_ element: Element, token: String? = nil) {
    if management == nil, let token { confirmation.sent(element, token: token) }
    turn {
      let bytes = trial == nil ? link?.send(element) ?? 0 : 0
      management?.send(element, token: token, at: token == nil ? 0 : environment.wallClock(), bytes: bytes)
      if let token, let count = management?.sentCount { lastSent = .init(count: count, last: token) }
    }
  }

  /// Too much is on its way that the server has not confirmed: nothing new should be sent.
  public var isCongested: Bool {
    if isCautious, unconfirmed > 0 || (management == nil && !confirmation.hasAnswer) { return true }
    return management?.isCongested ?? confirmation.isCongested
  }
  /// Messages go one at a time, each when the server has what was sent before it.
  public var isCautious: Bool { caution.isOn }
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
    guard isReading else { return }
    heard()
    if questionAsked != nil { questionAsked = environment.scheduler.now }
  }

  /// From now on what comes from this room is let in.
  public func expect(room: JID) { origin.rooms.insert(room.bare) }

  /// It is a room that was asked for at some time: who writes from there is somebody in it, and not the owner of that address.
  public func isRoom(_ address: JID) -> Bool { origin.rooms.contains(address.bare) }

  // MARK: - Connecting

  private func connect(withNextServer: Bool = false) {
    if isLast { return }
    reconnectTimer = nil
    security = nil
    enter(.connecting)
    var account = StreamMachine.Account(
      jid: options.account, resource: options.resource, credentials: environment.credentials())
    var request = redirects.last ?? options.request
    if let management, let boundJID, let resumption = management.resumption {
      account.resumption = (resumption, boundJID)
      toldHandled = resumption.handled
      // Where the session is (XEP-0198 section 5): once, whatever comes of it.
      if !hasTriedLocation, let place = management.location.flatMap(request.redirected) {
        hasTriedLocation = true
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

  func handle(_ event: StreamLink.Event) {
    switch event {
    case .connected(let endpoint): delegate?.session(self, noticed: .connected(endpoint))
    case .secured(let info): security = info
    case .features: break
    case .resumptionFailed(let h): resumptionFailed(h)
    case .online(let jid, let features, .new(let enabled)): begin(jid, features, enabled: enabled)
    case .online(let jid, let features, .resumed(let h)): resume(jid, features, h)
    case .management(let element):
      heardElement()
      receiveManagement(element)
    case .early(let element): receive(element, nil)
    case .element(let element):
      guard ["message", "presence", "iq"].contains(element.name) else { return refuseStream(over: element) }
      heardElement()
      count { receive(element, $0) }
    case .skipped(let element, let reason):
      count { number in
        refuse(
          element, "a stanza from \(element["from"] ?? "the server"): \(reason)", StanzaError(.modify, .notAcceptable))
        take(number)
      }
    case .ended(let failure): ended(failure)
    }
  }

  /// What makes us known on a new stream, and on that of an earlier process.
  func introduce(_ features: StreamFeatures) {
    // Before presence, upon which the server sends what it kept for us: whose ids count is known by then.
    discover()
    requestRoster(isVersioned: features.rosterVersioning)
    sendPresence()
  }

  func online(_ jid: JID, _ features: StreamFeatures, _ continuity: OnlineInfo.Continuity) {
    let now = environment.scheduler.now
    stanzaLimit = features.maxBytes
    policy.online(at: now)
    questionAsked = nil
    isHeardUnanswered = false
    resumptionsRefused = 0
    hasTriedLocation = false
    keepalive = Keepalive(interval: options.keepaliveInterval, timeout: options.keepaliveTimeout, now: now)
    if let login = link?.login { environment.loggedIn(login) }
    if isReadingPaused { link?.setReading(false) }
    turn {
      enter(
        .online(
          OnlineInfo(continuity: continuity, jid: jid, security: security, login: link?.login, since: now)))
      if continuity == .new { closeRequests() }
      if continuity != .resumed { introduce(features) } else if needsDiscovery { discover() }
    }
    checkKeepalive()
  }

  func forgetRequests() {
    trackerTimer = nil
    let lost = tracker.removeAll()
    for completion in lost { completion(.failure(StanzaError(.wait, .recipientUnavailable, "the stream ended"))) }
  }

  private func ended(_ failure: StreamFailure) {
    forgetWhatCannotBeResumed()
    forgetDeafSession(failure)
    link = nil
    keepalive = nil
    keepaliveTimer = nil
    countViolations(failure)
    if case .online = state { lastFailure = failure }
    // What was not online said no goodbye: its session may still be resumed.
    if case .stopped = failure, case .online = state { settle() }
    // Answers may still come on the stream that resumes this one.
    if management?.id == nil { forgetRequests() }
    if case .stopped = failure { return stopped() }
    if isLast { return enter(.waiting(failure, .zero)) }
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
    guard afterwards == .reconnect else { return enter(.stopped) }
    if isLast { enter(.waiting(.stopped, .zero)) } else { connect() }
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
}
