import Archive
import BotKit
import Crypto
import EventLoop
import Glibc
import JID
import SQLite
import Systemd
import Transport
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// The composition root: it owns the parts, joins them, and leads them through the daemon's life.
///
///     bytes -> Session (stream, OriginPolicy) -> MessageFlow (decide, commit, act) -> Dispatcher (programs)
///     text of a command -> MessageFlow (commit) -> Session -> bytes
@LoopActor
final class Daemon {
  /// The daemon of this process, once it runs.
  private(set) static var current: Daemon?

  let log: Logger
  let environment: [String: String]
  private(set) var settings: Settings
  private(set) var session: Session
  private(set) var flow: MessageFlow
  private(set) var dispatcher: Dispatcher
  private(set) var commandFaults: [CommandDiagnostic] = []
  let gate: ArchiveGate
  let started = ContinuousClock.now
  var onlineCount = 0
  var state = SessionState.connecting
  private(set) var stateEntered = ContinuousClock.now

  private let file: String
  private let handlers: [any CommandHandler]
  private let notifier = ServiceNotifier()
  private let credentials: CredentialKeeper
  private let dialer: NetworkDialer
  private var control: ControlServer?
  private var network: NetworkMonitor?
  private var sources: [SignalSource] = []
  private var watchdogTimer: TimerSource?
  private var stopTimer: TimerSource?
  private var isStopping = false
  /// Reading is stopped for either reason.
  private var archiveIsBehind = false
  private var serverIsBehind = false

  /// Starts the daemon in the loop that runs it.
  static func start(_ parts: Parts) {
    readMemory(of: parts) { memory in
      do throws(StartFailure) {
        let daemon = try Daemon(parts, memory)
        current = daemon
        daemon.begin()
      } catch {
        parts.log.log(.configurationInvalid, error.lines.joined(separator: "; "))
        parts.archive.close()
        EventLoop.main.exit(error.code.rawValue)
      }
    }
  }

  private init(_ parts: Parts, _ memory: Memory) throws(StartFailure) {
    file = parts.file
    environment = parts.environment
    settings = parts.settings
    log = parts.log
    handlers = parts.handlers
    gate = ArchiveGate(parts.archive)
    credentials = CredentialKeeper(password: parts.password, floor: memory.floor, gate: gate)
    dialer = NetworkDialer(context: parts.trust)
    let resource = settings.account.resource ?? memory.resource
    var options = SessionOptions(settings, resource: resource)
    options.avatar = parts.avatar
    session = Session(
      options, roster: memory.roster,
      environment: Self.environment(dialer: dialer, credentials: credentials, log: log))
    let table = Self.commandTable(settings, handlers: handlers, gate: gate, environment: environment)
    commandFaults = table.faults
    flow = MessageFlow(
      session: session, gate: gate, router: Router(table.commands, table.access, settings),
      keepsRawXML: settings.archive.rawXML, archived: memory.messages, log: log, wallClock: Self.wallClock)
    dispatcher = Dispatcher(limits: Dispatcher.Limits(settings.limits), hooks: flow.hooks())
    flow.attach(dispatcher)
    control = try openControlSocket(parts.sockets)
  }

  private func openControlSocket(_ sockets: [SocketActivation.Socket]) throws(StartFailure) -> ControlServer {
    let handler: ControlServer.Handler = { [weak self] request, client in self?.serve(request, client) }
    if let socket = sockets.first { return ControlServer(descriptor: socket.descriptor, path: nil, handler: handler) }
    do {
      return try ControlServer.listen(at: settings.control.socket, handler: handler)
    } catch {
      throw StartFailure(.configuration, [error.description])
    }
  }

  // MARK: - Life

  private func begin() {
    log.log(.started, "\(Product.name) \(Product.version) with \(settings.file)")
    for fault in commandFaults { log.log(.commandFileRefused, fault.description) }
    session.delegate = self
    connectGate()
    sources = [
      SignalSource(SIGTERM) { [weak self] in self?.stop() },
      SignalSource(SIGINT) { [weak self] in self?.stop() },
      SignalSource(SIGHUP) { [weak self] in self?.reload { _ in } },
    ]
    network = try? NetworkMonitor { [weak self] in self?.session.networkChanged() }
    feedWatchdog()
    log.log(.ready, "configuration, archive and control socket stand")
    notifier.ready(status: "connecting to \(settings.account.jid.domain)")
    session.start()
  }

  /// Lets running commands finish, says goodbye, and ends the process within ten seconds.
  func stop() {
    guard !isStopping else { return }
    isStopping = true
    log.log(.stopping, "stopping")
    notifier.stopping(status: "finishing running commands")
    stopTimer = TimerSource(after: .seconds(9)) { [weak self] in self?.end() }
    dispatcher.drain(deadline: .seconds(5)) { [weak self] in
      guard let self else { return }
      // The last answers are on their way to the disk and go out when they are there.
      if gate.isIdle { return session.stop() }
      gate.onIdle = { [weak self] in self?.session.stop() }
    }
  }

  private func end() {
    control?.close()
    control = nil
    gate.archive.close()
    EventLoop.main.exit(ExitCode.done.rawValue)
  }

  /// Runs the completions of one committed group; what they send leaves in one write.
  nonisolated func deliver(_ completions: @Sendable () -> Void) {
    LoopActor.assumeIsolated { session.turn { completions() } }
  }

  private func connectGate() {
    gate.onPressure = { [weak self] in
      self?.archiveIsBehind = $0
      self?.updateReading()
    }
    gate.onFault = { [weak self] error in
      guard let self else { return }
      if let error {
        log.log(.archiveError, "\(error); messages wait until it can be written again")
        notifier.status("the archive can't be written: \(error)")
      } else {
        log.log(.archiveRecovered, "the archive can be written again")
        notifier.status(statusLine)
      }
    }
    gate.onDropped = { [log] in log.log(.archiveError, "a message could not be archived: \($0)") }
    gate.onFatal = { [weak self] error in
      guard let self, !isStopping else { return }
      isStopping = true
      log.log(.archiveError, "\(error); ending, so that nothing is claimed that is not stored")
      notifier.stopping(status: "the archive failed")
      EventLoop.main.exit(ExitCode.failed.rawValue)
    }
  }

  private func updateReading() {
    session.setReading(!archiveIsBehind && !serverIsBehind)
  }

  /// Tells the service manager that we live: only after a round trip through the loop and the database.
  private func feedWatchdog() {
    guard let interval = ServiceNotifier.watchdogInterval else { return }
    gate.archive.read { _ throws(DatabaseError) in
      true
    } completion: { [weak self] _ in
      LoopActor.assumeIsolated {
        guard let daemon = self else { return }
        daemon.notifier.watchdog()
        daemon.watchdogTimer = TimerSource(after: interval / 3) { daemon.feedWatchdog() }
      }
    }
  }

  // MARK: - Configuration

  /// Reads the configuration again. `done` hears its faults; with any, the old one stays in force.
  func reload(done: @escaping @LoopActor ([String]) -> Void) {
    notifier.reloading(status: "reading the configuration")
    let configuration: Configuration
    do {
      configuration = try Configuration(file: file, environment: environment)
    } catch {
      for line in error.lines { log.log(.reloadFailed, line) }
      notifier.ready(status: statusLine)
      return done(error.lines)
    }
    apply(configuration)
    notifier.ready(status: statusLine)
    done([])
  }

  private func apply(_ configuration: Configuration) {
    let changes = SettingsChanges(from: settings, to: configuration.settings)
    let passwordChanged = credentials.password != configuration.password
    if configuration.settings.account.jid != settings.account.jid {
      // Another account has another archive's worth of state: the operator restarts for that.
      log.log(.reloadFailed, "account.jid is taken up at the next restart")
    }
    settings = configuration.settings
    settings.account.jid = session.options.account
    log.level = settings.log.level
    log.tracesStanzas = settings.log.xml
    let table = Self.commandTable(settings, handlers: handlers, gate: gate, environment: environment)
    commandFaults = table.faults
    for fault in commandFaults { log.log(.commandFileRefused, fault.description) }
    flow.router.update(table.commands, table.access, settings)
    flow.keepsRawXML = settings.archive.rawXML
    dispatcher.limits = Dispatcher.Limits(settings.limits)
    dialer.context = configuration.trust
    credentials.password = configuration.password
    var options = SessionOptions(settings, resource: settings.account.resource ?? session.options.resource)
    options.avatar = configuration.avatar
    session.update(options)
    if !changes.needNewStream.isEmpty || passwordChanged { session.reconnect() }
    let later = changes.needRestart
    log.log(
      .reloaded,
      "the new configuration is in force"
        + (later.isEmpty ? "" : "; at the next restart: " + later.joined(separator: ", ")))
  }

  // MARK: - The environment of the session

  /// Microseconds since 1970, UTC.
  static func wallClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  private static func environment(
    dialer: any Dialer, credentials: CredentialKeeper, log: Logger
  ) -> SessionEnvironment {
    SessionEnvironment(
      dialer: dialer, scheduler: LoopScheduler(), wallClock: wallClock, random: { Double.random(in: 0..<1) },
      randomIdentifier: { Random.identifier(bytes: 9) }, credentials: { credentials.current },
      loggedIn: { credentials.remember($0) },
      trace: { isOutgoing, element in
        log.traceStanza((isOutgoing ? "sent " : "received ") + Redaction.xml(of: element))
      })
  }
}

// MARK: - SessionDelegate

extension Daemon: SessionDelegate {
  func session(_ session: Session, entered state: SessionState) {
    self.state = state
    stateEntered = .now
    switch state {
    case .connecting: log.log(.connecting, "connecting to \(settings.account.jid.domain)")
    case .online(let info):
      onlineCount += 1
      log.log(.online, "online as \(info.jid)\(info.security.map { ", \($0.version)" } ?? "")")
      flow.sendQueued()
    case .waiting(let failure, let delay): report(failure, delay)
    case .stopped:
      if isStopping { end() }
    }
    if !isStopping { notifier.status(statusLine) }
  }

  private func report(_ failure: StreamFailure, _ delay: Duration) {
    let event: LogEvent =
      switch failure {
      case .authentication: .loginFailed
      case .tls, .tlsMissing: .tlsRefused
      case .unreachable, .timeout: .connectFailed
      default: failure.severity == .conflict ? .conflict : .disconnected
      }
    log.log(event, "\(failure); next attempt in \(delay.inWords)")
  }

  /// One line for `systemctl status`.
  var statusLine: String {
    switch state {
    case .connecting: "connecting to \(settings.account.jid.domain)"
    case .online(let info): "online as \(info.jid)"
    case .waiting(let failure, let delay): "offline: \(failure); next attempt in \(delay.inWords)"
    case .stopped: "stopped"
    }
  }

  func session(_ session: Session, noticed notice: SessionNotice) {
    switch notice {
    case .connected(let endpoint): log.log(.connecting, "connected to \(endpoint)")
    case .redirected(let host): log.log(.connecting, at: .info, "the server sends us to \(host)")
    case .triesNextServer(let failure): log.log(.connectFailed, "\(failure); trying the domain's next server")
    case .refused(let reason): log.log(.protocolViolation, "ignored: \(reason)")
    case .subscriptionAccepted(let jid):
      log.log(.subscriptionAccepted, "\(jid) is a contact now", peer: jid.description)
    case .subscriptionRefused(let jid):
      log.log(.subscriptionRefused, "\(jid) may not be a contact", peer: jid.description)
    case .notPublished(let reason): log.log(.protocolViolation, reason)
    }
  }

  func session(_ session: Session, received message: Message, as element: Element) {
    flow.receive(message, as: element)
    if !serverIsBehind, session.unsentBytes > 1_048_576 {
      // The server does not read our answers: no further questions until it does.
      serverIsBehind = true
      updateReading()
    }
  }

  func sessionDrained(_ session: Session) {
    guard serverIsBehind else { return }
    serverIsBehind = false
    updateReading()
  }

  func session(_ session: Session, changed roster: XMPPClient.Roster, by change: XMPPClient.Roster.Change) {
    keep(roster, change)
  }
}
