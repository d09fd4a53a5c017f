import BotKit
import EventLoop
import Systemd
import XMPPClient

/// SIGHUP, `xmppbotctl reload` and the command `reload`.
extension Daemon {
  /// Reads the configuration again.
  func reload(done: @escaping @LoopActor (ReloadOutcome) -> Void = { _ in }) {
    if ending != nil { return done(ReloadOutcome(faults: ["the bot is stopping"])) }
    notifier.reloading(status: "reading the configuration")
    var outcome = ReloadOutcome()
    do throws(StartFailure) {
      let new = try Configuration(file: file, environment: environment)
      // What can fail comes first, so that a failure changes nothing.
      let listens = new.settings.http.listen != settings.http.listen
      let listener = try listens ? httpSockets.listener(for: new.settings.http.listen) : nil
      outcome.atRestart = apply(new)
      configureRooms(new.rooms)
      web.use(settings, new.webhooks)
      if listens {
        web.listen(on: listener)
        log.log(.reloaded, "HTTP is spoken \(web.address.map { "on \($0)" } ?? "nowhere any more")")
      }
      outcome.refused = commandFaults.map(\.description)
    } catch {
      outcome.faults = error.lines
      for line in error.lines { log.log(.reloadFailed, line) }
    }
    notifier.ready(status: statusLine)
    done(outcome)
  }

  /// Puts it in force; returns the keys that wait for a restart.
  private func apply(_ new: Configuration) -> [String] {
    let changes = SettingsChanges(from: settings, to: new.settings)
    let passwordChanged = credentials.password != new.password
    settings = new.settings.keepingWhatNeedsRestart(of: settings)
    log.level = settings.log.level
    log.tracesStanzas = settings.log.xml
    retention.keep = settings.archive.keep
    let wasIsolated = isIsolated
    useCommands()
    if isIsolated != wasIsolated { tellIsolation() }
    for fault in commandFaults { log.log(.commandFileRefused, fault.description) }
    surroundings.trust(new.trust)
    credentials.password = new.password
    session.update(
      SessionOptions(settings, resource: settings.account.resource ?? session.options.resource, avatar: new.avatar))
    if !changes.needNewStream.isEmpty || passwordChanged { session.reconnect() }
    let later = changes.needRestart
    log.log(
      .reloaded,
      "the new configuration is in force"
        + (later.isEmpty ? "" : "; at the next restart: " + later.joined(separator: ", ")))
    return later
  }
}

/// Where commands run.
extension Daemon {
  /// Says it where it is not what it should be, and where it changes.
  func tellIsolation() {
    let socket = settings.isolation.socket
    guard !isIsolated else {
      return log.log(.reloaded, "commands run in the service at \(socket ?? "[commands] socket")")
    }
    log.log(
      .commandsNotIsolated,
      "commands run as children of the daemon and with its rights: there is no "
        + (socket ?? "socket of the commands' service"))
  }
}

extension Settings {
  /// These settings, with the values of `running` where a change waits for a restart.
  func keepingWhatNeedsRestart(of running: Settings) -> Settings {
    var settings = self
    settings.account.jid = running.account.jid
    settings.archive.path = running.archive.path
    settings.archive.sync = running.archive.sync
    settings.control.socket = running.control.socket
    return settings
  }
}
