import EventLoop
import Systemd
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

extension Daemon: SessionDelegate {
  /// More than this that the server has not taken, and it is asked nothing more until it has.
  private static let congestion = 1_048_576

  func session(_ session: Session, entered state: SessionState) {
    self.state = state
    stateEntered = .now
    if case .online = state {} else { flow.rooms.offline() }
    switch state {
    case .connecting: log.log(.connecting, "connecting to \(settings.account.jid.domain)")
    case .online(let info):
      onlineCount += 1
      if info.continuity != .new { resumedCount += 1 }
      if let tls = info.security { certificateEnd = tls.certificate.notAfter }
      let how = info.continuity == .new ? "" : ", the stream was resumed"
      log.log(.online, "online as \(info.jid)\(info.security.map { ", \($0.version)" } ?? "")\(how)")
      serverIsBehind = false
      updateReading()
      flow.online(info.continuity)
    case .waiting(let failure, let delay): report(failure, delay)
    case .stopped: sessionStopped()
    }
    tellStatus()
  }

  private func report(_ failure: StreamFailure, _ delay: Duration) {
    flow.metrics.disconnects &+= 1
    let event: LogEvent =
      switch failure {
      case .authentication: .loginFailed
      case .tls, .tlsMissing: .tlsRefused
      case .unreachable, .timeout: .connectFailed
      default: failure.severity == .conflict ? .conflict : .disconnected
      }
    log.log(event, ending == nil ? "\(failure); next attempt in \(delay.inWords)" : "\(failure)")
  }

  /// One line for `systemctl status`.
  var statusLine: String {
    let old = gate.archive.setAside?.files.first.map { "; a damaged archive was set aside as \($0)" }
    return connectionLine + (old ?? "")
  }

  private var connectionLine: String {
    if let fault = gate.fault { return "the archive can't be written: \(fault)" }
    switch state {
    case .connecting: return "connecting to \(settings.account.jid.domain)"
    case .online(let info): return "online as \(info.jid)"
    case .waiting(let failure, _) where ending != nil: return "offline: \(failure)"
    case .waiting(let failure, let delay): return "offline: \(failure); next attempt in \(delay.inWords)"
    case .stopped: return "stopped"
    }
  }

  func tellStatus() {
    if ending == nil { notifier.status(statusLine) }
  }

  func session(_ session: Session, noticed notice: SessionNotice) {
    switch notice {
    case .connected(let endpoint):
      self.endpoint = endpoint
      log.log(.connecting, "connected to \(endpoint)")
    case .redirected(let host): log.log(.connecting, at: .info, "the server sends us to \(host.prefix(200))")
    case .triesNextServer(let failure): log.log(.connectFailed, "\(failure); trying the domain's next server")
    case .notPublished(let reason): log.log(.protocolViolation, reason)
    case .setAside(let element):
      log.log(
        .stanzaSetAside,
        "the stream died \(Suspicion.limit) times when <\(element.name)/> \(element["id"] ?? "") to \(element["to"] ?? "the server")"
          + " was sent; it is not sent again")
    case .skippedUnreadable(let error):
      log.log(
        .stanzaSetAside,
        "what the server sent broke the stream \(Suspicion.limit) times (\(error)); it is passed over, a message may be missing"
      )
    case .refused(let reason):
      if let line = refusals.line("ignored: \(reason)", at: .now) { log.log(.protocolViolation, line) }
    case .subscriptionAccepted(let jid):
      log.log(.subscriptionAccepted, "\(jid) is a contact now", peer: jid.description)
    case .subscriptionRefused(let jid):
      log.log(.subscriptionRefused, "\(jid) may not be a contact", peer: jid.description)
    }
  }

  func session(
    _ session: Session, received message: Message, as element: Element, number: StreamManagement.HandledCount?
  ) {
    flow.receive(message, as: element, number: number)
    if !serverIsBehind, session.unsentBytes > Self.congestion {
      // The server does not read our answers: no further questions until it does.
      serverIsBehind = true
      updateReading()
    }
  }

  func session(_ session: Session, received carbon: CarbonCopy, number: StreamManagement.HandledCount?) {
    flow.receive(carbon, number: number)
  }

  func session(_ session: Session, received archived: ArchivedMessage, number: StreamManagement.HandledCount?) {
    if !flow.rooms.receive(archived, number) { flow.catchUp.received(archived, number) }
  }

  func sessionDiscovered(_ session: Session) { flow.discovered() }

  func session(_ session: Session, acknowledged tokens: [String]) {
    flow.outbox.acknowledged(tokens)
    continueStopping()
  }

  func session(_ session: Session, acknowledgedUpTo token: String) { flow.outbox.acknowledged(upTo: token) }

  func session(_ session: Session, setAside token: String) { flow.outbox.setAside(token) }

  func session(_ session: Session, handsBack tokens: [String]) { flow.isInDoubt = true }

  func session(_ session: Session, stores stream: SuspendedStream?) { gate.keep(stream) }

  func session(_ session: Session, stores count: StreamManagement.HandledCount) { flow.store(count) }

  func sessionDrained(_ session: Session) {
    flow.outbox.resume()
    continueStopping()
    guard serverIsBehind else { return }
    serverIsBehind = false
    updateReading()
  }

  func session(_ session: Session, changed roster: XMPPClient.Roster, by change: XMPPClient.Roster.Change) {
    gate.keep(roster, change)
  }
}
