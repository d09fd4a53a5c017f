import BotKit
import JID
import Transport
import XMPPClient
import XMPPStanzas

extension SessionOptions {
  /// What the configuration says of the session.
  public init(_ settings: Settings, resource: String, avatar: Avatar? = nil) {
    let account = settings.account
    let mode: TLSMode =
      switch account.tls {
      case .auto: .auto
      case .starttls: .starttls
      case .direct: .direct
      }
    self.init(
      account: account.jid, resource: resource,
      request: ConnectionRequest(domain: account.jid.domain, host: account.host, port: account.port, mode: mode),
      software: Product.software)
    priority = account.priority
    status = account.status
    nickname = account.nickname
    self.avatar = avatar
    keepaliveInterval = settings.keepalive.interval
    keepaliveTimeout = settings.keepalive.timeout
    group = settings.subscriptions.group
    features = Menus.features
    let rules = settings.subscriptions.accept
    let policy = AccessPolicy(settings.groups)
    acceptsSubscription = { policy.allows($0, rules) { _ in false } }
  }
}

extension Duration {
  /// For people: `0.4 s`, `20 s`, `5 min`, `3 h`, `2 d`.
  public var inWords: String {
    let seconds = self / .seconds(1)
    switch seconds {
    case ..<10: return "\((seconds * 10).rounded() / 10) s"
    case ..<120: return "\(Int(seconds)) s"
    case ..<7_200: return "\(Int(seconds / 60)) min"
    case ..<172_800: return "\(Int(seconds / 3_600)) h"
    default: return "\(Int(seconds / 86_400)) d"
    }
  }
}
