/// The channel-binding types this client knows, strongest first.
///
/// `tls-unique` is absent: it is undefined in TLS 1.3 and unsafe before (RFC 9266 section 1).
public enum ChannelBindingType: String, Sendable, Hashable, CaseIterable {
  /// RFC 9266: keying material of this very connection; no other connection has it.
  case tlsExporter = "tls-exporter"
  /// RFC 5929 section 4: a hash of the server's certificate; blind to an attacker who holds its key.
  case tlsServerEndPoint = "tls-server-end-point"
}

/// What the owner of the TLS connection can bind a login to. Nil means that this connection does not give that type.
public struct ChannelBindingData: Sendable, Hashable {
  /// RFC 9266 section 2: 32 bytes exported under "EXPORTER-Channel-Binding" with an empty context.
  /// Give it only for TLS 1.3, or for TLS 1.2 with the extended master secret.
  public var tlsExporter: [UInt8]?
  /// RFC 5929 section 4.1: the server's certificate under the hash of its signature (SHA-256 in place of MD5 and SHA-1).
  public var tlsServerEndPoint: [UInt8]?

  public init(tlsExporter: [UInt8]? = nil, tlsServerEndPoint: [UInt8]? = nil) {
    self.tlsExporter = tlsExporter
    self.tlsServerEndPoint = tlsServerEndPoint
  }

  subscript(type: ChannelBindingType) -> [UInt8]? {
    switch type {
    case .tlsExporter: tlsExporter
    case .tlsServerEndPoint: tlsServerEndPoint
    }
  }

  /// The types that can be used, strongest first.
  var types: [ChannelBindingType] { ChannelBindingType.allCases.filter { self[$0] != nil } }
}

/// What SCRAM's GS2 header says about channel binding (RFC 5802 section 6).
public enum ChannelBinding: Sendable, Hashable {
  /// `n`: this client cannot bind, or shares no type with the server.
  case unsupported
  /// `y`: this client could bind, but the server did not offer it. A server that did will end the login,
  /// for then someone in between has cut its list of mechanisms.
  case notOffered
  /// `p`: the login is bound to the connection.
  case bound(ChannelBindingType, data: [UInt8])

  /// The header, with an empty authorization identity.
  var gs2Header: String {
    switch self {
    case .unsupported: "n,,"
    case .notOffered: "y,,"
    case .bound(let type, _): "p=\(type.rawValue),,"
    }
  }

  /// The bytes of SCRAM's `c=` before base64.
  var channelBindingInput: [UInt8] {
    let header = Array(gs2Header.utf8)
    if case .bound(_, let data) = self { return header + data }
    return header
  }

  var type: ChannelBindingType? {
    if case .bound(let type, _) = self { return type }
    return nil
  }
}
