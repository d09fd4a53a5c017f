import Archive
import BotKit
import Crypto
import EventLoop
import Glibc
import JID
import SQLite
import Systemd
import Transport
import XMPPClient
import XMPPStream

/// The composition root: it owns the parts, joins them, and leads them through the daemon's life.
///
///     bytes -> Session (stream, OriginPolicy) -> MessageFlow (decide, commit, act) -> Dispatcher (programs)
///     text of a command -> Outbox (commit) -> Session -> bytes
@LoopActor
final class Daemon {
  /// The daemon of this process, which lives as long.
  private static var running: Daemon?

  let log: Logger
  let environment: [String: String]
  let file: String
  let handlers: [any CommandHandler]
  let surroundings: Surroundings
  let gate: ArchiveGate
  let session: Session
  let flow: MessageFlow
  let dispatcher: Dispatcher
  let longRunning: Handlers
  let credentials: CredentialKeeper
  let retention: Retention
  let archiveRows: ArchiveRows
  let web: WebInterface
  let httpSockets: HTTPSockets
  let notifier = ServiceNotifier()
  let started = ContinuousClock.now
  /// What is in force; keys that need a restart stay as they were.
  var settings: Settings
  var commandFaults: [CommandDiagnostic] = []
  var control: ControlServer?
  var state = SessionState.connecting
  var stateEntered = ContinuousClock.now
  var refusals = NoticeThrottle()
  /// What the stream runs over.
  var endpoint: Endpoint?
  /// Until when the server's certificate is valid, in seconds since 1970, as the last stream had it.
  var certificateEnd: Int64?
  var onlineCount = 0
  var resumedCount = 0
  var ending: Ending?
  /// Who sends a message and is told if the archive fails before it is stored.
  var awaitingArchive: [ObjectIdentifier: (ArchiveError) -> Void] = [:]
  /// Commands that an earlier process left open.
  private var openCommands: [OpenCommand]
  /// Reading is stopped for either reason.
  var archiveIsBehind = false
  var serverIsBehind = false
  /// Handlers wait for these, too.
  var outboxIsFull = false
  var filesAreBehind = false
  private let reference: Reference
  private var network: NetworkMonitor?
  private var signals: [SignalSource] = []
  var watchdogTimer: TimerSource?
  /// Programs run in the commands' service.
  var isIsolated = false
  /// As whom the service at this socket runs them, once that was asked.
  var commandsUser: (place: String, user: UInt32)?

  /// What is made before the daemon stands and asks it later.
  final class Reference {
    weak var daemon: Daemon?
  }

  /// Starts the daemon in the loop that runs it.
  static func start(_ parts: Parts) {
    Memory.read(for: parts) { result in
      switch result {
      case .success(let memory):
        let daemon = Daemon(parts, memory, .process(trusting: parts.trust))
        running = daemon
        daemon.listenToProcess()
        daemon.begin()
      case .failure(let error):
        parts.log.log(.archiveError, error.description)
        EventLoop.main.exit(ExitCode.failed.rawValue)
      }
    }
  }

  init(_ parts: Parts, _ memory: Memory, _ surroundings: Surroundings) {
    file = parts.file
    environment = parts.environment
    settings = parts.settings
    log = parts.log
    handlers = parts.handlers
    openCommands = memory.openCommands
    self.surroundings = surroundings
    gate = ArchiveGate(parts.archive, scheduler: surroundings.scheduler)
    retention = Retention(
      parts.archive, keep: settings.archive.keep, scheduler: surroundings.scheduler, log: log,
      wallClock: surroundings.wallClock)
    credentials = CredentialKeeper(password: parts.password, floor: memory.floor, gate: gate)
    session = Session(
      SessionOptions(settings, resource: settings.account.resource ?? memory.resource, avatar: parts.avatar),
      roster: memory.roster, suspended: memory.stream, environment: surroundings.session(credentials, log))
    parts.delivery.session = session
    reference = Reference()
    flow = MessageFlow(
      session: session, gate: gate,
      router: Router(commands: CommandTable(), access: AccessPolicy(), facts: Self.facts(reference)),
      memory: memory, log: log, wallClock: surroundings.wallClock)
    dispatcher = Dispatcher(limits: Dispatcher.Limits(settings.limits), hooks: flow.hooks())
    flow.attach(dispatcher)
    longRunning = Handlers(
      jid: settings.account.jid.description,
      // Until `useCommands` sets it.
      launcher: CommandSetup.launcher(at: nil, nil, settings, environment),
      hooks: Self.handlerHooks(reference, log))
    archiveRows = ArchiveRows(parts.archive)
    httpSockets = parts.httpSockets
    web = WebInterface(log: log, hooks: Self.webHooks(reference))
    reference.daemon = self
    session.delegate = self
    connectGate()
    connectHandlers()
    useCommands()
    configureRooms(parts.rooms)
    web.use(settings, parts.webhooks)
    web.listen(on: parts.http)
    control = ControlServer(parts.control) { [weak self] request, client in self?.serve(request, client) }
  }

  func begin() {
    log.log(.started, "\(Product.name) \(Product.version) with \(settings.file)")
    if !isIsolated { tellIsolation() }
    for fault in commandFaults { log.log(.commandFileRefused, fault.description) }
    log.log(.ready, "configuration, archive and control socket stand")
    if let address = web.address { log.log(.ready, "HTTP is spoken on \(address)") }
    notifier.ready(status: "connecting to \(settings.account.jid.domain)")
    longRunning.start()
    archiveRows.count(flow.archived)
    flow.takeUp(openCommands)
    openCommands = []
    session.start()
    retention.start()
  }

  /// What only the one daemon of a process does.
  private func listenToProcess() {
    signals = [
      SignalSource(SIGTERM) { [weak self] in self?.stop() },
      SignalSource(SIGINT) { [weak self] in self?.stop() },
      SignalSource(SIGHUP) { [weak self] in self?.reload() },
    ]
    do {
      network = try NetworkMonitor { [weak self] in self?.session.networkChanged() }
    } catch {
      log.log(.connectFailed, "the network is not watched, so its return may be noticed late: \(error)")
    }
    if let interval = ServiceNotifier.watchdogInterval { feedWatchdog(every: interval / 3) }
  }

  /// Puts the commands of the settings into force, with their limits.
  func useCommands() {
    let place = settings.isolation.place()
    if place != commandsUser?.place { commandsUser = nil }
    let launcher = CommandSetup.launcher(at: place, commandsUser?.user, settings, environment)
    longRunning.launcher = launcher
    longRunning.output = settings.limits.output
    longRunning.update(
      settings.handlers.map { HandlerDescription($0, place: place, resources: settings.limits.resources) })
    let setup = CommandSetup(
      settings, launcher: launcher, handlers: handlers, longRunning: longRunning.commands,
      services: { [reference] access in Builtins.all(Self.services(reference), access: access) })
    commandFaults = setup.faults
    isIsolated = place != nil
    if let place, !setup.faults.isEmpty { learnUser(at: place) }
    flow.router.commands = setup.commands
    flow.metrics.offer(setup.commands.all.map(\.description.name))
    flow.router.access = setup.access
    flow.router.listeners = longRunning.listeners
    flow.router.rate = RateLimit(settings.limits.rate)
    flow.router.roomRate = RateLimit(settings.limits.roomRate)
    flow.router.output = settings.limits.output
    flow.router.maxAge = settings.limits.maxAge
    flow.keepsRawXML = settings.archive.rawXML
    flow.uploads.options = Uploads.Options(caFile: settings.account.caFile)
    flow.uploads.launcher = launcher
    dispatcher.limits = Dispatcher.Limits(settings.limits)
  }

  // MARK: - The archive

  private func connectGate() {
    gate.onPressure = { [weak self] in
      self?.archiveIsBehind = $0
      self?.updateReading()
    }
    gate.onFault = { [weak self] error in
      guard let self else { return }
      if let error {
        log.log(.archiveError, "\(error); messages wait until it can be written again")
        let awaiting = awaitingArchive.values
        awaitingArchive = [:]
        for tell in awaiting { tell(error) }
      } else {
        log.log(.archiveRecovered, "the archive can be written again")
      }
      tellStatus()
    }
    gate.onDropped = { [log] in log.log(.archiveError, "a message could not be archived: \($0)") }
    gate.onFatal = { [weak self] in self?.fail($0) }
    gate.onIdle = { [weak self] in self?.continueStopping() }
    flow.uploads.onIdle = { [weak self] in self?.continueStopping() }
  }

  func updateReading() {
    session.setReading(!archiveIsBehind && !serverIsBehind)
    longRunning.setReading(!archiveIsBehind && !serverIsBehind && !outboxIsFull && !filesAreBehind)
  }
}

extension Surroundings {
  /// The session's edges.
  fileprivate func session(_ credentials: CredentialKeeper, _ log: Logger) -> SessionEnvironment {
    SessionEnvironment(
      dialer: dialer, scheduler: scheduler, wallClock: wallClock, random: { Double.random(in: 0..<1) },
      randomIdentifier: { Random.identifier(bytes: 9) }, credentials: { credentials.current },
      loggedIn: { credentials.remember($0) },
      trace: { isOutgoing, element in
        log.traceStanza((isOutgoing ? "sent " : "received ") + Redaction.xml(of: element))
      })
  }
}
