import BotKit
import EventLoop
import JID
import Systemd
import XMPPClient
import XMPPStanzas

/// Long-running handlers: from the configuration to processes, and what they do from there to the message flow.
extension Daemon {
  /// What handlers ask of the daemon.
  static func handlerHooks(_ reference: Reference, _ log: Logger) -> Handlers.Hooks {
    var hooks = Handlers.Hooks()
    hooks.maySend = { jid, rules in reference.daemon?.admits(jid, rules) ?? false }
    hooks.send = { jid, text in reference.daemon?.flow.outbox.send(text, to: jid) }
    hooks.answer = { message, action in reference.daemon?.flow.perform(action, for: message) }
    hooks.register = { command in
      let fault = reference.daemon?.flow.router.commands.update(command)
      if fault == nil { reference.daemon?.flow.metrics.add(command.description.name) }
      return fault
    }
    hooks.notice = { log.log($0) }
    return hooks
  }

  /// Joins the handlers to the flow.
  func connectHandlers() {
    connectRooms()
    flow.onHeard = { [weak self] message in
      guard let self else { return }
      let router = flow.router
      longRunning.heard(message) { $0.hears(message, router.access, inRoster: router.facts.inRoster) }
    }
    flow.outbox.onFull = { [weak self] in
      self?.outboxIsFull = $0
      self?.updateReading()
    }
    flow.onCrowded = { [weak self] in
      self?.filesAreBehind = $0
      self?.updateReading()
    }
  }

  private func admits(_ jid: JID, _ rules: [AccessRule]) -> Bool {
    flow.router.access.allows(jid, rules, inRoster: flow.router.facts.inRoster)
  }

  func session(_ session: Session, received presence: Presence) {
    if flow.rooms.receive(presence) {
      if let room = presence.from?.bare { tell(presence, in: room) }
      return
    }
    guard longRunning.watchesPresence, presence.kind == .available || presence.kind == .unavailable,
      let from = presence.from, from.bare != settings.account.jid
    else { return }
    let event = ContactPresence(
      contact: from, resource: from.resource, isAvailable: presence.kind == .available, show: presence.show,
      status: presence.status.map { String($0.prefix(1_000)) }, time: surroundings.wallClock())
    longRunning.heard(event) { admits(from, $0) }
  }
}

extension HandlerDescription {
  /// - Parameters:
  ///   - place: the socket of the commands' service, if it runs there.
  ///   - resources: those of a command; processor time is for commands alone.
  init(_ settings: Settings.HandlerSettings, place: String?, resources: ResourceLimits) {
    self.init(
      name: settings.name, words: settings.exec, events: settings.events, commands: settings.commands,
      summary: settings.description ?? "", allow: settings.allow, places: Places(settings.places), send: settings.send,
      timeout: settings.timeout)
    self.place = place
    self.resources = ResourceLimits(memory: resources.memory, processes: resources.processes)
  }
}

extension Logger {
  fileprivate func log(_ notice: HandlerNotice) {
    switch notice {
    case .started(let handler): log(.handlerStarted, "the handler \(handler) runs", command: handler)
    case .ended(let handler, let how, let next?):
      log(
        .handlerEnded, "the handler \(handler) ended (\(how)); it is started again in \(next.inWords)", command: handler
      )
    case .ended(let handler, let how, nil):
      log(
        .handlerEnded, at: .info, "an earlier process of the handler \(handler) has ended, as it was told to (\(how))",
        command: handler)
    case .said(let handler, let severity, let text):
      log(.handlerOutput, at: LogLevel(severity), "\(handler): \(text)", command: handler)
    }
  }
}

extension LogLevel {
  init(_ severity: HandlerSeverity) {
    switch severity {
    case .error: self = .error
    case .warning: self = .warning
    case .info: self = .info
    case .debug: self = .debug
    }
  }
}
