import EventLoop
import Glibc

/// Why no server could be reached.
public enum ConnectError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The domain or the host is no name that DNS could hold.
  case notAName(String)
  /// The domain's DNS says that there is no such service (an SRV target of ".").
  case notOffered(domain: String)
  /// DNS did not say which servers there are.
  case lookup(DNSError)
  /// Each server was tried; one entry for each.
  case unreachable(domain: String, [TargetFailure])
  /// Time was up; what had failed until then.
  case deadline(domain: String, [TargetFailure])

  public var description: String {
    switch self {
    case .notAName(let name): "\(name) is no host name: check jid = and host ="
    case .notOffered(let domain): "the domain \(domain) says it offers no XMPP client service: check jid ="
    case .lookup(let error): "\(error)"
    case .unreachable(let domain, let failures):
      "no server of \(domain) can be reached: " + failures.map(\.description).joined(separator: "; ")
    case .deadline(let domain, let failures):
      "no server of \(domain) was reached in time"
        + (failures.isEmpty ? "" : ": " + failures.map(\.description).joined(separator: "; "))
    }
  }
}

/// Why one server could not be reached.
public struct TargetFailure: Sendable, Hashable, CustomStringConvertible {
  public let endpoint: Endpoint
  /// Why its addresses are not known, when that is so.
  public let lookup: DNSError?
  public let attempts: [AttemptFailure]
  /// The attempts did not fail, but took too long.
  public let timedOut: Bool

  public var description: String {
    var parts = attempts.map(\.description)
    if let lookup, attempts.isEmpty { parts.append(lookup.description) }
    if !attempts.isEmpty, attempts.allSatisfy({ $0.error.code == ECONNREFUSED }) {
      parts.append("nothing listens there: check that the server runs, and host = and port =")
    }
    if timedOut { parts.append("no answer in time: check the network and firewalls on the way") }
    return "\(endpoint): " + parts.joined(separator: ", ")
  }
}

/// Why one address did not accept the connection.
public struct AttemptFailure: Sendable, Hashable, CustomStringConvertible {
  public let address: IPAddress
  public let error: Errno

  public var description: String { "\(address) \(error)" }
}
