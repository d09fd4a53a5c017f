/// How a connection becomes TLS.
public enum Security: String, Sendable, Hashable {
  /// Plain XML first, TLS after `<starttls/>` (RFC 6120, section 5).
  case starttls
  /// TLS from the first byte (XEP-0368).
  case direct
}

/// Which kinds of TLS the operator allows (`tls =`).
public enum TLSMode: String, Sendable, Hashable, CaseIterable {
  case starttls, direct, auto
}

/// A server's name or address, port and kind of TLS, as dialled.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
  /// An A-label host name or an IP address, without brackets.
  public let host: String
  public let port: UInt16
  public let security: Security

  public init(host: String, port: UInt16, security: Security) {
    self.host = host
    self.port = port
    self.security = security
  }

  public var description: String {
    (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":\(port)"
      + (security == .direct ? " (direct TLS)" : " (STARTTLS)")
  }
}

/// What to connect to: an account's domain, and what its operator said about the way there.
public struct ConnectionRequest: Sendable, Hashable {
  /// The domain of the JID, as A-labels or U-labels.
  public let domain: String
  public let host: String?
  public let port: UInt16?
  public let mode: TLSMode

  public init(domain: String, host: String? = nil, port: UInt16? = nil, mode: TLSMode = .auto) {
    self.domain = domain
    self.host = host
    self.port = port
    self.mode = mode
  }

  /// The one endpoint that the request names without DNS, or nil when SRV records have to say it.
  ///
  /// A host or a port given by the operator, or a domain that is an IP address, switches SRV off. The port then
  /// tells the kind of TLS in mode `auto`: 5223 and 443 mean direct TLS, all others STARTTLS. Without a port it is
  /// 5223 for direct TLS and 5222 otherwise.
  var fixedEndpoint: Endpoint? {
    guard host != nil || port != nil || IPAddress(domain) != nil else { return nil }
    let security: Security =
      switch mode {
      case .starttls: .starttls
      case .direct: .direct
      case .auto: port == 5223 || port == 443 ? .direct : .starttls
      }
    return Endpoint(host: host ?? domain, port: port ?? security.defaultPort, security: security)
  }
}

extension Security {
  /// The port when neither DNS nor the operator names one.
  var defaultPort: UInt16 { self == .direct ? 5223 : 5222 }
}
