import EventLoop
import JID
import Transport
import XML
import XMPPStanzas
import XMPPStream

/// One stream from dialling to its end: bytes in, elements out, with the negotiation in between.
///
/// It joins a `ByteStream`, the parser and the `StreamMachine`; what to do once online is its owner's.
@LoopActor
public final class StreamLink {
  /// What the link tells its owner.
  public enum Event {
    case connected(Endpoint)
    case secured(TLSInfo)
    /// `StreamMachine.Goal.features` is reached.
    case features(StreamFeatures)
    /// The session that was to be resumed is gone (`StreamMachine.Action.resumptionFailed`).
    case resumptionFailed(h: UInt32?)
    case online(JID, StreamFeatures, StreamMachine.Continuity)
    /// An element of XEP-0198 on the online stream.
    case management(Element)
    /// A first-level element of the online stream.
    case element(Element)
    /// A stanza from before stream management was enabled: it does not count.
    case early(Element)
    /// A stanza too large to be kept: its start tag, and the limit that it exceeds.
    case skipped(Element, reason: String)
    /// The link is over; nothing follows.
    case ended(StreamFailure)
  }

  private let domain: String
  private let request: ConnectionRequest
  private let dialer: any Dialer
  private let scheduler: any Scheduler
  private let limits: ParserLimits
  private let handler: @LoopActor (Event) -> Void
  /// Called for each element in and out, when set (`xml = yes`).
  public var trace: (@LoopActor (_ isOutgoing: Bool, Element) -> Void)?

  private var machine: StreamMachine
  private var parser: StreamParser
  private var stream: (any ByteStream)?
  private var dialling: (any ScheduledWork)?
  private var phaseTimer: (any ScheduledWork)?
  private var output = StreamOutput()
  /// Of that, what the connection did not take; the rest is being gathered.
  private var backlog = 0
  /// The connection has no more than this, and little above, that it could not send yet.
  private static let ahead = 32 * 1024
  /// Stanzas that came between binding and being online.
  private var early: [Element] = []
  private static let earlyLimit = 100
  private var depth = 0
  private var isOver = false
  private var isParsing = false
  private var parserIsStale = false
  private var awaitsHandshake = false
  private var hasHeard = false
  /// We said the end of the stream, and wait for the server's.
  public private(set) var isFinishing = false
  /// How long a server may take over its last words.
  static let finishDeadline = Duration.seconds(2)

  public init(
    _ account: StreamMachine.Account, goal: StreamMachine.Goal = .online, request: ConnectionRequest,
    dialer: any Dialer, scheduler: any Scheduler, limits: ParserLimits = ParserLimits(),
    handler: @escaping @LoopActor (Event) -> Void
  ) {
    machine = StreamMachine(account, goal: goal)
    domain = account.jid.domain
    self.request = request
    self.dialer = dialer
    self.scheduler = scheduler
    self.limits = limits
    self.handler = handler
    parser = StreamParser(limits: limits)
  }

  /// The server was asked for the session, and gave no good answer.
  public var waitsForResumption: Bool { machine.waitsForResumption }
  /// The login, once it has succeeded.
  public var login: Login? { machine.login }
  /// What the server offered for the login.
  public var loginFeatures: StreamFeatures? { machine.loginFeatures }
  public var unsentBytes: Int { (stream?.unsentBytes ?? 0) + backlog }
  /// Bytes sent so far on this connection, with those that wait to be written, and those of them that the other side's system has.
  public var writtenBytes: Int { (stream?.writtenBytes ?? 0) + backlog }
  public var deliveredBytes: Int { stream?.deliveredBytes ?? 0 }
  /// Called whenever any bytes arrive.
  public var onHeard: @LoopActor () -> Void = {}
  /// Called before what a turn gathered is written: what it sends goes with it.
  public var onTurnEnds: @LoopActor () -> Void = {}
  /// Called when everything written has been taken by the system.
  public var onDrained: @LoopActor () -> Void = {}

  /// `withNextServer`: of the domain's servers the one behind the last, instead of all anew.
  public func start(withNextServer: Bool = false) {
    dialling =
      withNextServer
      ? dialer.dialNext { [weak self] in self?.dialled($0) }
      : dialer.dial(request) { [weak self] in self?.dialled($0) }
  }

  private func dialled(_ result: Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) {
    dialling = nil
    switch result {
    case .failure(let failure): end(failure)
    case .success(let (stream, endpoint)): adopt(stream, endpoint)
    }
  }

  /// Sends an element; at once, or with the rest of the turn when called from within the handler.
  /// Returns the bytes that it takes.
  @discardableResult
  public func send(_ element: Element) -> Int {
    guard !isFinishing else { return 0 }
    trace?(true, element)
    var bytes = 0
    turn { bytes = output.append(element) }
    return bytes
  }

  /// Sends an element that depends on no other's place, before all that waits and instead of the last such.
  func sendFirst(_ element: Element) {
    guard !isFinishing else { return }
    trace?(true, element)
    turn { output.putFirst(element) }
  }

  /// Gathers all that `body` sends into one write.
  public func turn(_ body: () -> Void) {
    depth += 1
    body()
    if depth == 1, !output.isEmpty { onTurnEnds() }
    depth -= 1
    if depth == 0 { flush() }
  }

  private func flush() {
    guard let stream else { return }
    // Again as long as the system takes all of it.
    while stream.unsentBytes < Self.ahead, let piece = output.next() {
      stream.write(piece)
      if output.isEmpty || stream.unsentBytes >= Self.ahead { stream.flush() }
    }
    backlog = output.count
  }

  private func drained() {
    flush()
    if unsentBytes == 0 { onDrained() }
  }

  public func setReading(_ isReading: Bool) {
    stream?.setReading(isReading)
  }

  /// Ends an online stream in peace (RFC 6120 section 4.4): says so, still takes what was under way, and is over, as
  /// `.stopped`, when the server has said so, too, or after two seconds.
  public func finish() {
    guard !isOver, !isFinishing else { return }
    guard machine.isOnline else { return close(.stopped) }
    isFinishing = true
    turn { endStream() }
    phaseTimer = scheduler.schedule(after: Self.finishDeadline) { [weak self] in self?.end(.stopped) }
  }

  /// Leaves the stream without its end, so that it can be resumed (XEP-0198 section 5).
  public func detach() {
    end(.stopped)
  }

  /// Ends the stream at once, with `error` when the server broke the rules.
  public func close(_ failure: StreamFailure, error: StreamError? = nil) {
    guard !isOver else { return }
    if stream != nil, !isFinishing {
      if let error { _ = output.append(error.element) }
      endStream()
    }
    end(failure)
  }

  private func endStream() {
    output.append("</stream:stream>")
  }

  /// Breaks the connection without a word.
  public func abort(_ failure: StreamFailure) {
    stream?.abort()
    end(failure)
  }

  // MARK: - Connection

  private func adopt(_ stream: any ByteStream, _ endpoint: Endpoint) {
    self.stream = stream
    stream.onReceive = { [weak self] in self?.receive($0) }
    stream.onEnd = { [weak self] in self?.ended($0, endpoint) }
    stream.onDrained = { [weak self] in self?.drained() }
    handler(.connected(endpoint))
    guard !isOver else { return }
    if endpoint.security == .direct {
      begin(.handshake)
      startTLS(direct: true)
    } else {
      perform(machine.connected(tls: nil))
    }
  }

  private func ended(_ failure: StreamFailure, _ endpoint: Endpoint) {
    guard case .connectionLost(let reason) = failure, !hasHeard, endpoint.security == .starttls else {
      return end(failure)
    }
    end(.connectionLost("\(reason) before the server said a word; a port for direct TLS needs tls = direct"))
  }

  private func startTLS(direct: Bool) {
    stream?.startTLS(domain: domain, direct: direct) { [weak self] result in
      guard let self, !isOver else { return }
      switch result {
      case .failure(let failure): end(failure)
      case .success(let info):
        handler(.secured(info))
        guard !isOver else { return }
        perform(direct ? machine.connected(tls: info.channelBinding) : machine.secured(info.channelBinding))
      }
    }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    hasHeard = true
    onHeard()
    turn { parse(bytes) }
  }

  private func parse(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while !isOver, !rest.isEmpty {
      let current = parser
      isParsing = true
      defer { isParsing = false }
      do {
        try current.parse(rest) { event in handle(event) }
      } catch {
        return close(.violation(StreamError(error.condition, error.description)), error: StreamError(error.condition))
      }
      guard parserIsStale else { return }
      parserIsStale = false
      rest = UnsafeRawBufferPointer(rebasing: rest.suffix(current.unconsumedBytes))
      if awaitsHandshake {
        awaitsHandshake = false
        // Bytes behind <proceed/> came in the clear: someone put them there (CVE-2011-0411).
        guard rest.isEmpty else {
          return abort(.tls("data was put in before TLS began; somebody tampers", isCertificate: false))
        }
        return startTLS(direct: false)
      }
      parser = StreamParser(limits: limits)
    }
  }

  private func handle(_ event: StreamEvent) {
    guard !isOver else { return }
    switch event {
    case .opened(let header): perform(machine.opened(header))
    case .closed: perform(machine.closed())
    case .element(let element):
      trace?(false, element)
      receive(element)
    case .skipped(let element, let reason):
      trace?(false, element)
      guard machine.isOnline, element.namespace == Namespace.client else {
        let error = StreamError("policy-violation", reason)
        return close(.violation(error), error: StreamError(error.condition))
      }
      handler(.skipped(element, reason: reason))
    }
    if isOver { parser.stop() }
  }

  private func receive(_ element: Element) {
    if machine.isOnline, element.namespace == Namespace.client {
      handler(.element(element))
    } else if machine.isOnline, element.namespace == Namespace.streamManagement {
      handler(.management(element))
    } else if machine.isEnabling, element.namespace == Namespace.client, early.count < Self.earlyLimit {
      early.append(element)
    } else {
      perform(machine.received(element))
    }
  }

  // MARK: - Actions

  private func perform(_ actions: [StreamMachine.Action]) {
    turn {
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: StreamMachine.Action) {
    switch action {
    case .phase(let phase): begin(phase)
    case .open(let header):
      restartParser()
      output.append(header)
    case .send(let element): send(element)
    case .startTLS:
      awaitsHandshake = true
      restartParser()
    case .features(let features):
      phaseTimer = nil
      handler(.features(features))
    case .resumptionFailed(let h): handler(.resumptionFailed(h: h))
    case .online(let jid, let features, let continuity):
      phaseTimer = nil
      handler(.online(jid, features, continuity))
      let stanzas = early
      early = []
      for stanza in stanzas where !isOver { handler(.early(stanza)) }
    case .fail(.violation(let error)): close(.violation(error), error: StreamError(error.condition))
    case .fail(let failure): close(failure)
    }
  }

  private func restartParser() {
    if isParsing {
      // We are inside this parser's own callback: it is stopped now and replaced when it has returned.
      parser.stop()
      parserIsStale = true
    } else {
      parser = StreamParser(limits: limits)
    }
  }

  private func begin(_ phase: StreamMachine.Phase) {
    phaseTimer = scheduler.schedule(after: phase.deadline) { [weak self] in
      self?.close(.timeout(phase: phase.rawValue), error: StreamError("connection-timeout"))
    }
  }

  private func end(_ failure: StreamFailure) {
    guard !isOver else { return }
    isOver = true
    phaseTimer = nil
    dialling?.cancel()
    dialling = nil
    stream?.onReceive = { _ in }
    stream?.onEnd = { _ in }
    stream?.onDrained = {}
    // Also within a turn: what is written after the closing is lost.
    while let piece = output.next() { stream?.write(piece) }
    stream?.flush()
    stream?.close()
    handler(.ended(isFinishing ? .stopped : failure))
  }
}
