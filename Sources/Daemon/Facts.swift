import BotKit
import EventLoop
import XMPPClient

extension Daemon {
  /// What built-in commands and access rules ask. The closures run on the loop, where the router is.
  static var facts: BotFacts {
    BotFacts(
      inRoster: { jid in LoopActor.assumeIsolated { current?.session.roster.isContact(jid) ?? false } },
      status: { LoopActor.assumeIsolated { current?.report ?? StatusReport() } },
      roster: { LoopActor.assumeIsolated { current?.rosterLines ?? [] } })
  }

  private var report: StatusReport {
    var report = StatusReport()
    report.version = Product.version
    if case .online(let info) = state {
      report.online = info.since.duration(to: .now)
      report.server = settings.account.jid.domain + (info.security.map { ", \($0.version)" } ?? "")
    }
    report.reconnected = max(0, onlineCount - 1)
    report.archived = Int(flow.archived)
    report.running = dispatcher.running
    return report
  }

  var rosterLines: [RosterLine] {
    session.roster.items.values.sorted { $0.jid.description < $1.jid.description }.map {
      RosterLine(jid: $0.jid, name: $0.name, subscription: $0.subscription.rawValue)
    }
  }
}
