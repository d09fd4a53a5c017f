import Archive
import BotKit
import EventLoop
import JID
import JSON
import SQLite
import Systemd
import XML
import XMPPClient
import XMPPStanzas

/// What xmppbotctl can ask of a running daemon.
extension Daemon {
  func serve(_ request: JSON, _ client: ControlClient) {
    switch request["verb"]?.stringValue {
    case "status": client.send(.done(statusJSON))
    case "roster": serveRoster(client)
    case "commands": serveCommands(client)
    case "send": serveSend(request, client)
    case "archive-search": serveSearch(request, client)
    case "archive-export": serveExport(request, client)
    case "archive-stats": serveStatistics(client)
    case "reload":
      reload { faults in
        client.send(
          faults.isEmpty ? .done([:]) : .failed(ControlFailure(.configuration, faults.joined(separator: "\n"))))
      }
    case "log-level": serveLogLevel(request, client)
    case let verb:
      client.send(
        .failed(ControlFailure(.usage, "the daemon does not know '\(verb ?? "")'; are both of the same version?")))
    }
  }

  var statusJSON: JSON {
    var status = JSONObject()
    status["version"] = .string(Product.version)
    status["jid"] = .string(settings.account.jid.description)
    status["uptime"] = .int(Int(started.duration(to: .now) / .seconds(1)))
    switch state {
    case .online(let info):
      status["state"] = "online"
      status["resource"] = info.jid.resource.map(JSON.string) ?? .null
      status["online_for"] = .int(Int(info.since.duration(to: .now) / .seconds(1)))
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
    status["reconnected"] = .int(max(0, onlineCount - 1))
    status["messages"] = .int(Int(flow.archived))
    status["archive"] = .string(gate.archive.path)
    status["contacts"] = .int(session.roster.items.count)
    status["running_commands"] = .int(dispatcher.running)
    status["unsent_bytes"] = .int(session.unsentBytes)
    return .object(status)
  }

  private func serveRoster(_ client: ControlClient) {
    for item in session.roster.items.values.sorted(by: { $0.jid.description < $1.jid.description }) {
      client.send(
        .row([
          "jid": .string(item.jid.description), "name": item.name.map(JSON.string) ?? .null,
          "subscription": .string(item.subscription.rawValue), "groups": .array(item.groups.map(JSON.string)),
        ]))
    }
    client.send(.done([:]))
  }

  private func serveCommands(_ client: ControlClient) {
    for command in flow.router.commands.all {
      let description = command.description
      client.send(
        .row([
          "name": .string(description.name), "description": .string(description.description),
          "usage": description.usage.map(JSON.string) ?? .null,
          "allow": .array(description.allow.map { .string($0.asWritten) }), "origin": .string(command.origin),
        ]))
    }
    client.send(.done(["refused": .array(commandFaults.map { .string($0.description) })]))
  }

  private func serveSend(_ request: JSON, _ client: ControlClient) {
    guard let to = request["to"]?.stringValue, let text = request["text"]?.stringValue, !text.isEmpty else {
      return client.send(.failed(ControlFailure(.usage, "a recipient and a text are needed")))
    }
    let recipient: JID
    do {
      recipient = try JID(to)
    } catch {
      return client.send(.failed(ControlFailure(.usage, "'\(to)' is no address: \(error)")))
    }
    guard session.isOnline else { return client.send(.failed(offline)) }
    flow.send(text, to: recipient) { [weak self] wasSent in
      guard let self else { return }
      guard wasSent else { return client.send(.failed(offline)) }
      // A server handles a client's stanzas in order (RFC 6120 section 10.1): when it answers this, it has the message.
      session.request(.get, to: settings.account.jid.server, Element("ping", Namespace.ping)) { result in
        if case .failure(let error) = result,
          error.condition == .recipientUnavailable || error.condition == .remoteServerTimeout
        {
          client.send(
            .failed(ControlFailure(.timedOut, "the message was sent, but the server did not confirm it: \(error)")))
        } else {
          client.send(.done(["state": "sent"]))
        }
      }
    }
  }

  private var offline: ControlFailure {
    ControlFailure(.offline, "the bot is not online (\(statusLine)); nothing was sent")
  }

  private func serveLogLevel(_ request: JSON, _ client: ControlClient) {
    guard let level = request["level"]?.stringValue.flatMap(LogLevel.init(rawValue:)) else {
      let levels = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
      return client.send(.failed(ControlFailure(.usage, "the levels are \(levels)")))
    }
    log.level = level
    client.send(.done([:]))
  }
}

// MARK: - The archive

extension Daemon {
  private func serveSearch(_ request: JSON, _ client: ControlClient) {
    do {
      let query = try ArchiveQuery(request["words"]?.stringValue ?? "")
      page(SearchCursor(query, MessageFilter(request), limit: request["limit"]?.intValue), client)
    } catch {
      client.send(.failed(ControlFailure(.usage, error.description)))
    }
  }

  private func serveExport(_ request: JSON, _ client: ControlClient) {
    page(ExportCursor(MessageFilter(request)), client)
  }

  /// Sends page after page, each when the one before has been taken.
  private func page(_ cursor: some MessageCursor, _ client: ControlClient) {
    gate.archive.read(PageRead(cursor, size: 200)) { [weak self] result in
      LoopActor.assumeIsolated {
        switch result {
        case .failure(let error): client.send(.failed(ControlFailure(.failed, error.description)))
        case .success(let page):
          for row in page.rows { client.send(.row(row.json)) }
          guard let next = page.next else { return client.send(.done([:])) }
          client.whenDrained { self?.page(next, client) }
        }
      }
    }
  }

  private func serveStatistics(_ client: ControlClient) {
    gate.archive.read(StatisticsRead()) { result in
      LoopActor.assumeIsolated {
        switch result {
        case .failure(let error): client.send(.failed(ControlFailure(.failed, error.description)))
        case .success(let statistics): client.send(.done(statistics.json))
        }
      }
    }
  }
}

extension MessageFilter {
  /// The filter that a request describes; times are microseconds since 1970.
  public init(_ request: JSON) {
    self.init(
      peer: request["with"]?.stringValue, room: request["room"]?.stringValue,
      since: request["since"]?.intValue.map(Int64.init), until: request["until"]?.intValue.map(Int64.init))
  }
}

extension MessageRow {
  /// The message for xmppbotctl and for exports.
  public var json: JSON {
    var object = JSONObject()
    object["id"] = .int(Int(id))
    object["time"] = .string(Timestamp.format(self.time))
    object["direction"] = .string(self.direction.rawValue)
    object["kind"] = .string(self.kind.rawValue)
    object["state"] = .string(self.state.rawValue)
    object["peer"] = .string(self.peer)
    let texts: [(String, String?)] = [
      ("resource", self.resource), ("room", self.room), ("nick", self.nick), ("subject", self.subject),
      ("body", self.body), ("thread", self.thread), ("lang", self.lang), ("message_id", self.messageID),
      ("origin_id", self.originID), ("stanza_id", self.stanzaID?.id), ("stanza_id_by", self.stanzaID?.by),
      ("replaces", self.replaces), ("retracts", self.retracts), ("reply_to", self.replyTo),
      ("occupant_id", self.occupantID), ("error", self.error),
    ]
    for case (let key, let text?) in texts { object[key] = .string(text) }
    if let delay = self.delay { object["delay"] = .string(Timestamp.format(delay)) }
    return .object(object)
  }
}

extension Statistics {
  public var json: JSON {
    [
      "messages": .int(Int(count)), "unindexed": .int(Int(unindexed)), "file_bytes": .int(Int(fileSize)),
      "wal_bytes": .int(Int(walSize)), "free_bytes": .int(Int(freeSize)),
      "kinds": .array(
        lines.map {
          [
            "direction": .string($0.direction.rawValue), "kind": .string($0.kind.rawValue),
            "count": .int(Int($0.count)),
            "first": .string(Timestamp.format($0.first)), "last": .string(Timestamp.format($0.last)),
          ]
        }),
    ]
  }
}
