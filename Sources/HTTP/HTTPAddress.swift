import CLinux
import Glibc

/// Where a server listens. Nothing but this machine reaches it: there is no TLS here, and no defence against a network.
public enum HTTPAddress: Sendable, Hashable {
  /// An address of the loopback, as it is written, and a port.
  case loopback(String, port: UInt16)
  /// A Unix socket of ours.
  case unix(path: String)
  /// The socket that the service manager passes, with `FileDescriptorName=http`.
  case systemd

  /// Why a text names no such place.
  public struct Problem: Error, Sendable, Hashable {
    public let reason: String
    public let remedy: String
  }

  /// `127.0.0.1:9797`, `[::1]:9797`, `unix:/path` or `systemd`.
  public init(_ text: String) throws(Problem) {
    if text == "systemd" {
      self = .systemd
    } else if text.hasPrefix("unix:") {
      self = .unix(path: try Self.path(String(text.dropFirst("unix:".count))))
    } else {
      self = try Self.loopback(text)
    }
  }

  private static func path(_ path: String) throws(Problem) -> String {
    guard path.hasPrefix("/") else {
      throw Problem(reason: "names no absolute path", remedy: "write it as unix:/run/xmppbotd/http.sock")
    }
    // sockaddr_un has room for 107 bytes and a zero (unix(7)).
    guard path.utf8.count <= 107 else {
      throw Problem(reason: "names a path of more than 107 bytes", remedy: "choose a shorter one")
    }
    return path
  }

  private static let remedy = "write 127.0.0.1:9797, [::1]:9797, unix:/run/xmppbotd/http.sock or systemd"

  private static func loopback(_ text: String) throws(Problem) -> HTTPAddress {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      throw Problem(reason: "has no port", remedy: remedy)
    }
    let host = text[..<colon]
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, String(host), &v4) == 1 {
      guard UInt32(bigEndian: v4.s_addr) >> 24 == 127 else { throw notHere(host) }
      return .loopback(String(host), port: port)
    }
    guard host.hasPrefix("["), host.hasSuffix("]"), inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &v6) == 1
    else { throw Problem(reason: "names no address", remedy: remedy) }
    let bytes = withUnsafeBytes(of: &v6) { Array($0) }
    guard bytes == Array(repeating: 0, count: 15) + [1] else { throw notHere(host) }
    return .loopback(String(host), port: port)
  }

  private static func notHere(_ host: Substring) -> Problem {
    Problem(
      reason: "would listen to a network (\(host)), without TLS",
      remedy: "listen on 127.0.0.1:9797, and put a reverse proxy such as nginx or Caddy in front of it")
  }
}

extension HTTPAddress: CustomStringConvertible {
  /// As a configuration has it.
  public var description: String {
    switch self {
    case .loopback(let host, let port): "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .systemd: "systemd"
    }
  }
}
