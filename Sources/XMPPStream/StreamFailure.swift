import SASL
import XMPPStanzas

/// Why a stream ended or never came to be, in words for the operator.
public enum StreamFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The server said `<stream:error/>`.
  case streamError(StreamError)
  /// The server sent us elsewhere (`see-other-host`, RFC 6120 section 4.9.3.19).
  case redirected(to: String)
  /// The server broke the protocol; the stream is closed with this error.
  case violation(StreamError)
  /// The server offers no TLS, so nothing may be said to it (RFC 7590).
  case tlsMissing
  /// The server's certificate or its TLS was refused.
  case tls(String, isCertificate: Bool)
  /// Logging in failed.
  case authentication(SASLFailure)
  /// The server gave us no resource (RFC 6120 section 7).
  case bind(StanzaError)
  /// A phase of the negotiation took too long.
  case timeout(phase: String)
  /// No answer to our pings: the link is dead (XEP-0199).
  case silent
  /// The server could not be found or reached.
  case unreachable(String)
  /// The connection ended without a word.
  case connectionLost(String)
  /// The server closed the stream.
  case closed
  /// We closed it.
  case stopped

  /// What kind of fault it is decides how soon to try again.
  public enum Severity: Sendable {
    /// May pass by itself: back off and retry.
    case transient
    /// Will not pass until somebody mends it: retried slowly.
    case permanent
    /// Another client took our resource: not fought over.
    case conflict
  }

  public var severity: Severity {
    switch self {
    case .streamError(let error):
      switch error.condition {
      case "conflict": .conflict
      // ejabberd, of a session that takes too slowly what it is sent: another may do better, and what was missed is fetched.
      case "policy-violation" where error.text?.contains("unacked") == true: .transient
      case "not-authorized", "host-unknown", "host-gone", "policy-violation": .permanent
      default: .transient
      }
    case .authentication(let failure): failure.isPermanent ? .permanent : .transient
    case .tls(_, let isCertificate): isCertificate ? .permanent : .transient
    case .tlsMissing: .permanent
    case .bind(let error): error.kind == .wait ? .transient : .permanent
    default: .transient
    }
  }

  /// Another server of the same domain may do better.
  public var concernsOneServer: Bool {
    switch self {
    case .tls, .tlsMissing, .timeout, .connectionLost, .closed, .violation: true
    case .streamError(let error): error.condition != "conflict" && error.condition != "policy-violation"
    default: false
    }
  }

  public var description: String {
    switch self {
    case .streamError(let error):
      switch error.condition {
      case "conflict": "another client took over this resource (conflict); give the other one a resource of its own"
      case "host-unknown", "host-gone": "the server does not serve this domain (\(error)); check [account] jid and host"
      default: "the server ended the stream: \(error)"
      }
    case .redirected(let host): "the server sends us to \(host.prefix(200))"
    case .violation(let error): "the server broke the protocol: \(error)"
    case .tlsMissing: "the server offers no TLS, and without it no password is sent; enable TLS on the server"
    case .tls(let reason, _): reason
    case .authentication(let failure): failure.description
    case .bind(let error): "the server gave us no resource: \(error)"
    case .timeout(let phase): "the server took too long over \(phase)"
    case .silent: "the server stopped answering"
    case .unreachable(let reason): reason
    case .connectionLost(let reason): "the connection was lost: \(reason)"
    case .closed: "the server closed the stream"
    case .stopped: "stopped"
    }
  }
}
