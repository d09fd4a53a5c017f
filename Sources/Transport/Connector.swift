import EventLoop

/// Finds an account's server and connects to it: SRV records of both kinds, then each target's addresses.
///
/// One attempt at a time. Nothing is remembered from one `connect` to the next: DNS is asked anew.
@LoopActor
public final class Connector {
  public typealias Completion = @LoopActor (Result<(Connection, Endpoint), ConnectError>) -> Void

  /// The least time that a target gets, however many there are.
  static let targetMinimum = Duration.seconds(5)

  private let resolver: Resolver
  private var random: any RandomNumberGenerator & Sendable
  private var domain = ""
  private var channel: DNSChannel?
  private var targets: ArraySlice<Endpoint> = []
  private var race: TargetRace?
  private var failures: [TargetFailure] = []
  private var completion: Completion?
  /// Counts attempts: what was posted for one must not end the next.
  private var attempt = 0
  private var deadline = ContinuousClock.now
  private var deadlineTimer: TimerSource?
  private var targetTimer: TimerSource?
  private var lookups: [Security: ServiceLookup] = [:]
  /// Told which servers will be tried, in which order, and whether SRV records named them.
  public var onPlan: @LoopActor (_ targets: [Endpoint], _ fromRecords: Bool) -> Void = { _, _ in }

  /// `random` draws the lots among SRV records of one priority.
  public init(
    resolver: Resolver = Resolver(), random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.resolver = resolver
    self.random = random
  }

  isolated deinit { cancel() }

  /// Connects TCP to the first server that answers. For an endpoint with direct TLS the caller starts TLS at once, with
  /// ALPN `xmpp-client`. An attempt that is under way is cancelled. `completion` is called once, never from within this
  /// call, and not after `cancel()`. `deadline` covers DNS and all servers; a server that does not answer gets an even
  /// share of what is left, 5 seconds at least.
  public func connect(_ request: ConnectionRequest, deadline: Duration, completion: @escaping Completion) {
    cancel()
    failures = []
    begin(deadline, completion)
    guard let domain = Self.name(request.domain) else { return post(.failure(.notAName(request.domain))) }
    self.domain = domain
    if let fixed = request.fixedEndpoint {
      guard let host = Self.name(fixed.host) else { return post(.failure(.notAName(fixed.host))) }
      targets = [Endpoint(host: host, port: fixed.port, security: fixed.security)]
      openChannel(search: request.host != nil)
      return dialNext()
    }
    guard openChannel(search: false) else { return }
    lookups = [:]
    let kinds: [Security] =
      switch request.mode {
      case .starttls: [.starttls]
      case .direct: [.direct]
      case .auto: [.starttls, .direct]
      }
    for kind in [Security.starttls, .direct] where !kinds.contains(kind) { lookups[kind] = .notAsked }
    for kind in kinds {
      channel?.services(kind, of: domain) { [weak self] in self?.found(kind, $0) }
    }
  }

  /// Goes on with the servers behind the one that `connect` gave last: for a caller whom that one's TLS or stream
  /// disappointed. Fails at once, with what had failed before, when there is none left.
  public func connectNext(deadline: Duration, completion: @escaping Completion) {
    let left = targets
    let failed = failures
    cancel()
    targets = left
    failures = failed
    begin(deadline, completion)
    guard !targets.isEmpty else { return post(.failure(.unreachable(domain: domain, failures))) }
    if openChannel(search: false) { dialNext() }
  }

  /// Whether `connectNext` has a server to try.
  public var hasNext: Bool { !targets.isEmpty }

  /// Ends the attempt; its completion is not called. Harmless when repeated.
  public func cancel() {
    attempt += 1
    completion = nil
    targets = []
    endLookup()
    deadlineTimer?.cancel()
    deadlineTimer = nil
  }

  private func endLookup() {
    targetTimer?.cancel()
    targetTimer = nil
    race?.cancel()
    race = nil
    channel?.cancel()
    channel = nil
  }

  private func begin(_ time: Duration, _ completion: @escaping Completion) {
    self.completion = completion
    deadline = .now + time
    deadlineTimer = TimerSource(after: time) { [weak self] in
      guard let self else { return }
      // What the race has found out so far belongs into the error; it tells it in the loop's next turn.
      if let race { return race.timeOut() }
      finish(.failure(.deadline(domain: domain, failures)))
    }
  }

  @discardableResult
  private func openChannel(search: Bool) -> Bool {
    do {
      channel = try DNSChannel(resolver, search: search)
      return true
    } catch {
      post(.failure(.lookup(error)))
      return false
    }
  }

  private func found(_ security: Security, _ lookup: ServiceLookup) {
    lookups[security] = lookup
    guard let starttls = lookups[.starttls], let direct = lookups[.direct] else { return }
    do {
      let planned = try plan(starttls, direct, &random)
      targets = planned[...]
      onPlan(planned, starttls.hasRecords || direct.hasRecords)
      dialNext()
    } catch {
      finish(.failure(error))
    }
  }

  private func plan(
    _ starttls: ServiceLookup, _ direct: ServiceLookup, _ random: inout some RandomNumberGenerator
  ) throws(ConnectError) -> [Endpoint] {
    try ServicePlan.endpoints(
      domain: domain, starttls: starttls, direct: direct, isInHosts: channel?.isInHostsFile(domain) == true,
      using: &random)
  }

  private func dialNext() {
    targetTimer?.cancel()
    guard let channel else { return }
    let left = deadline - .now
    guard left > .zero else { return finish(.failure(.deadline(domain: domain, failures))) }
    guard let target = targets.first else { return finish(.failure(.unreachable(domain: domain, failures))) }
    if targets.count > 1 {
      let share = max(Self.targetMinimum, left / targets.count)
      targetTimer = TimerSource(after: share) { [weak self] in self?.race?.timeOut() }
    }
    targets.removeFirst()
    let race = TargetRace(target) { [weak self] outcome in
      guard let self else {
        if case .connected(let descriptor) = outcome { Socket.close(descriptor) }
        return
      }
      switch outcome {
      case .connected(let descriptor): finish(.success((Connection(descriptor: descriptor), target)))
      case .failed(let failure):
        failures.append(failure)
        dialNext()
      }
    }
    self.race = race
    race.start(channel)
  }

  private func finish(_ result: Result<(Connection, Endpoint), ConnectError>) {
    let completion = completion
    self.completion = nil
    endLookup()
    deadlineTimer?.cancel()
    deadlineTimer = nil
    completion?(result)
  }

  private func post(_ result: Result<(Connection, Endpoint), ConnectError>) {
    let attempt = attempt
    EventLoop.main.post { [weak self] in
      if let self, self.attempt == attempt { finish(result) }
    }
  }

  private static func name(_ host: String) -> String? {
    IPAddress(host)?.description ?? DomainName.ascii(host)
  }
}
