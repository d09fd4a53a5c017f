/// A name in a certificate's subjectAltName that can stand for an XMPP server. The bytes are the peer's: anything.
enum CertificateName: Sendable, Hashable {
  /// dNSName.
  case dns([UInt8])
  /// otherName id-on-dnsSRV (RFC 4985).
  case srv([UInt8])
  /// otherName id-on-xmppAddr (RFC 6120, section 13.7.1.4).
  case xmppAddress([UInt8])
  /// iPAddress: 4 or 16 bytes.
  case ip([UInt8])
}

/// Who a server has to be: the domain of the account's JID, never the host that DNS led to.
///
/// Matching is that of RFC 6120 section 13.7.2 and RFC 9525. The certificate's common name is not looked at.
struct ServiceIdentity: Sendable, Hashable {
  private enum Reference: Sendable, Hashable {
    case domain([UInt8])
    case ip([UInt8])
  }

  private let reference: Reference
  /// As A-labels, or as an address.
  let name: String

  /// The identity of `domain` (A-labels, U-labels or an IP address); nil when it is no domain.
  init?(domain: String) {
    if let address = IPAddress(domain) {
      reference = .ip(address.bytes)
      name = address.description
    } else {
      guard let ascii = DomainName.ascii(domain) else { return nil }
      reference = .domain([UInt8](ascii.utf8))
      name = ascii
    }
  }

  /// What TLS tells the server (SNI); nil for an address, which RFC 6066 forbids there.
  var serverName: String? {
    if case .domain = reference { name } else { nil }
  }

  /// Whether one of a certificate's names is this one. `onlyDNS` leaves SRV and XMPP names out: for chains whose
  /// authority is constrained to names, which says nothing about those two kinds.
  func matches(_ names: [CertificateName], onlyDNS: Bool = false) -> Bool {
    names.contains { presented in
      switch (reference, presented) {
      case (.ip(let wanted), .ip(let bytes)): wanted == bytes
      case (.domain(let wanted), .dns(let bytes)): Self.matches(wanted, pattern: bytes)
      case (.domain(let wanted), .srv(let bytes)):
        !onlyDNS && bytes.starts(with: Self.service, by: { Self.lower($0) == $1 })
          && Self.equal(wanted, bytes.dropFirst(Self.service.count))
      case (.domain(let wanted), .xmppAddress(let bytes)): !onlyDNS && Self.equal(wanted, bytes[...])
      default: false
      }
    }
  }

  private static let service = [UInt8]("_xmpp-client.".utf8)

  /// DNS-ID (RFC 9525, section 6.3): equal, or a `*` that is the whole left-most label in place of one label of
  /// `wanted`, with two labels or more after it.
  private static func matches(_ wanted: [UInt8], pattern: [UInt8]) -> Bool {
    guard pattern.starts(with: [UInt8(ascii: "*"), dot]) else { return equal(wanted, pattern[...]) }
    guard let firstDot = wanted.firstIndex(of: dot), firstDot > 0 else { return false }
    let rest = pattern.dropFirst(2)
    return rest.contains(dot) && equal(wanted[(firstDot + 1)...], rest)
  }

  /// ASCII letters compare without case; a name with any other byte than printable ASCII, or with a `*`, is no name.
  private static func equal(_ wanted: some Collection<UInt8>, _ presented: ArraySlice<UInt8>) -> Bool {
    presented.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "*") }
      && wanted.elementsEqual(presented, by: { $0 == lower($1) })
  }

  private static let dot = UInt8(ascii: ".")

  private static func lower(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
