import Glibc

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  public enum Family: Sendable, Hashable {
    case v4, v6
  }

  public let family: Family
  /// 4 or 16 bytes in network order.
  public let bytes: [UInt8]
  /// Interface index of a link-local IPv6 address, else 0.
  public let scope: UInt32

  /// Parses dotted IPv4 or IPv6 text, with or without brackets, with an interface after `%` if need be.
  public init?(_ text: String) {
    var host = text[...]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    var v4 = in_addr()
    if inet_pton(AF_INET, String(host), &v4) == 1 {
      self.init(.v4, bytes: withUnsafeBytes(of: v4) { [UInt8]($0) })
      return
    }
    var scope: UInt32 = 0
    if let percent = host.firstIndex(of: "%") {
      let zone = String(host[host.index(after: percent)...])
      scope = UInt32(zone) ?? if_nametoindex(zone)
      guard scope != 0 else { return nil }
      host = host[..<percent]
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, String(host), &v6) == 1 else { return nil }
    self.init(.v6, bytes: withUnsafeBytes(of: v6) { [UInt8]($0) }, scope: scope)
  }

  /// The address of 4 or 16 bytes in network order; nil for another count.
  init?(bytes: [UInt8]) {
    switch bytes.count {
    case 4: self.init(.v4, bytes: bytes)
    case 16: self.init(.v6, bytes: bytes)
    default: return nil
    }
  }

  /// The address in a socket address of either family.
  init?(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      let v4 = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
      self.init(.v4, bytes: withUnsafeBytes(of: v4.sin_addr) { [UInt8]($0) })
    case AF_INET6:
      let v6 = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
      self.init(.v6, bytes: withUnsafeBytes(of: v6.sin6_addr) { [UInt8]($0) }, scope: v6.sin6_scope_id)
    default: return nil
    }
  }

  private init(_ family: Family, bytes: [UInt8], scope: UInt32 = 0) {
    self.family = family
    self.bytes = bytes
    self.scope = scope
  }

  /// Calls `body` with the socket address of `port` here.
  func withSocketAddress<T>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
    var storage = sockaddr_storage()
    return withUnsafeMutableBytes(of: &storage) { raw in
      let size: Int
      switch family {
      case .v4:
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &v4.sin_addr) { $0.copyBytes(from: bytes) }
        raw.storeBytes(of: v4, as: sockaddr_in.self)
        size = MemoryLayout<sockaddr_in>.size
      case .v6:
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        v6.sin6_scope_id = scope
        withUnsafeMutableBytes(of: &v6.sin6_addr) { $0.copyBytes(from: bytes) }
        raw.storeBytes(of: v6, as: sockaddr_in6.self)
        size = MemoryLayout<sockaddr_in6>.size
      }
      return raw.withMemoryRebound(to: sockaddr.self) { address in
        // The buffer is a whole sockaddr_storage: it has a base.
        guard let base = address.baseAddress else { preconditionFailure("empty socket address") }
        return body(base, socklen_t(size))
      }
    }
  }

  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let made = bytes.withUnsafeBytes {
      inet_ntop(family == .v4 ? AF_INET : AF_INET6, $0.baseAddress, &text, socklen_t(text.count))
    }
    guard made != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      + (scope == 0 ? "" : "%\(scope)")
  }
}
