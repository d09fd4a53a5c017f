import Archive
import BotKit
import Configuration
import EventLoop
import Glibc
import JID
import JSON
import Systemd
import XML
import XMPPClient
import XMPPStanzas

/// What xmppbotctl can ask of a running daemon.
extension Daemon {
  func serve(_ request: JSON, _ client: ControlClient) {
    switch request["verb"]?.stringValue {
    case "status": client.finish(statusJSON)
    case "metrics": client.finish(["text": .string(metricsText)])
    case "roster": serveRoster(client)
    case "rooms": serveRooms(client)
    case "commands": serveCommands(request, client)
    case "run": serveRun(request, client)
    case "send": serveSend(request, client)
    case "archive-search": serveSearch(request, client)
    case "archive-export": serveExport(request, client)
    case "archive-stats": serveStatistics(client)
    case "archive-check": serveCheck(client)
    case "archive-prune": servePrune(request, client)
    case "reload":
      log.log(.reloaded, "\(client.peer) asks for the configuration to be read again")
      reload { outcome in
        if outcome.faults.isEmpty {
          return client.finish([
            "refused": .array(outcome.refused.map(JSON.string)), "restart": .array(outcome.atRestart.map(JSON.string)),
          ])
        }
        client.fail(.configuration, outcome.faults.joined(separator: "\n"))
      }
    case "log-level": serveLogLevel(request, client)
    case "forget-mechanism": serveForgetMechanism(client)
    case let verb:
      client.fail(.usage, "the daemon does not know '\(verb ?? "")'; are both of the same version?")
    }
  }

  private var statusJSON: JSON {
    var status = JSONObject()
    status["version"] = .string(Product.version)
    status["jid"] = .string(settings.account.jid.description)
    status["uptime"] = .int(Int(started.duration(to: .now) / .seconds(1)))
    switch state {
    case .online(let info):
      let age = info.since.duration(to: surroundings.scheduler.now)
      status["state"] = "online"
      status["resource"] = info.jid.resource.map(JSON.string) ?? .null
      status["online_since"] = .string(
        Timestamp.format(surroundings.wallClock() - Int64(age.microseconds), wholeSeconds: true))
      status["online_for"] = .int(Int(age / .seconds(1)))
      status["server"] = endpoint.map { .string("\($0)") } ?? .null
      status["mechanism"] = info.login.map { .string($0.floor.rawValue) } ?? .null
      if let tls = info.security {
        status["tls"] = .string(tls.version)
        status["cipher"] = .string(tls.cipher)
        status["certificate_until"] = .string(
          Timestamp.format(tls.certificate.notAfter * 1_000_000, wholeSeconds: true))
      }
    case .connecting: status["state"] = "connecting"
    case .waiting(let failure, let delay):
      status["state"] = "offline"
      status["reason"] = .string(failure.description)
      let rest = delay - stateEntered.duration(to: .now)
      status["next_attempt"] = .string("in \(max(rest, .zero).inWords)")
    case .stopped: status["state"] = "stopping"
    }
    if ending != nil { status["state"] = "stopping" }
    status["resumed"] = .int(resumedCount)
    status["reconnected"] = .int(max(0, onlineCount - 1 - resumedCount))
    status["outbox"] = .int(flow.outbox.waiting)
    status["unsent_bytes"] = .int(session.unsentBytes)
    status["messages"] = .int(Int(flow.archived))
    status["archive"] = .string(gate.archive.path)
    status["archive_bytes"] = .int(archiveBytes)
    status["archive_fault"] = gate.fault.map { .string($0.description) }
    status["archive_set_aside"] = gate.archive.setAside.map { .string($0.description) }
    status["contacts"] = .int(session.roster.items.count)
    status["rooms"] = .int(roomsWanted)
    status["rooms_joined"] = .int(roomsJoined)
    status["commands"] = .int(flow.router.commands.all.count)
    status["running_commands"] = .int(dispatcher.running)
    status["waiting_commands"] = .int(dispatcher.queued)
    status["handlers"] = longRunning.json
    return .object(status)
  }

  /// Of the file and its log.
  var archiveBytes: Int { fileSize(gate.archive.path) + fileSize(gate.archive.path + "-wal") }

  private func serveRoster(_ client: ControlClient) {
    client.send(
      rows: session.roster.items.values.sorted { $0.jid.description < $1.jid.description }.map { item in
        [
          "jid": .string(item.jid.description), "name": item.name.map(JSON.string) ?? .null,
          "subscription": .string(item.subscription.rawValue), "groups": .array(item.groups.map(JSON.string)),
        ]
      })
    client.finish()
  }

  private func serveLogLevel(_ request: JSON, _ client: ControlClient) {
    let word = request["level"]?.stringValue ?? ""
    let levels = LogLevel.allCases.map(\.rawValue)
    guard let level = LogLevel(rawValue: word) else {
      let hint = nearest(to: word, in: levels).map { "did you mean \($0)?" } ?? ""
      return client.fail(
        .usage, "'\(word)' is none of \(levels.joined(separator: ", "))\(hint.isEmpty ? "" : ": " + hint)")
    }
    log.log(.reloaded, "\(client.peer) sets the log level to \(level.rawValue)")
    log.level = level
    client.finish()
  }
}

/// Bytes; 0 when there is no such file.
private func fileSize(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : 0
}
