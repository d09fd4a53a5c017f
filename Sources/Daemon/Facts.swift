import BotKit
import EventLoop
import XMPPClient

extension Daemon {
  /// What built-in commands and access rules ask. The closures run on the loop, where the router is.
  static func facts(_ reference: Reference) -> BotFacts {
    BotFacts(
      inRoster: { jid in LoopActor.assumeIsolated { reference.daemon?.session.roster.isContact(jid) ?? false } },
      status: { LoopActor.assumeIsolated { reference.daemon?.report ?? StatusReport() } },
      roster: { LoopActor.assumeIsolated { reference.daemon?.rosterLines ?? [] } })
  }

  /// What the built-in commands that wait ask for.
  static func services(_ reference: Reference) -> Builtins.Services {
    Builtins.Services(
      search: { query, found in
        guard let daemon = reference.daemon else {
          found(nil)
          return {}
        }
        return daemon.gate.search(query, found)
      },
      reload: { done in reference.daemon?.reload(done: done) }, rooms: roomService(reference))
  }

  private var report: StatusReport {
    var report = StatusReport()
    report.version = Product.version
    if case .online(let info) = state {
      report.online = info.since.duration(to: surroundings.scheduler.now)
      report.server = settings.account.jid.domain + (info.security.map { ", \($0.version)" } ?? "")
    }
    report.reconnected = max(0, onlineCount - 1)
    report.outbox = flow.outbox.queued
    report.archived = Int(flow.archived)
    report.running = dispatcher.running
    return report
  }

  private var rosterLines: [RosterLine] {
    session.roster.items.values.sorted { $0.jid.description < $1.jid.description }.map {
      RosterLine(jid: $0.jid, name: $0.name, subscription: $0.subscription.rawValue)
    }
  }
}
