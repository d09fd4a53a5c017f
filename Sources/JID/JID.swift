import Glibc

/// An XMPP address (RFC 7622). Always normalised; compared by its normalised bytes.
public struct JID: Sendable, Hashable, CustomStringConvertible {
  /// The bytes that each part may have, normalised.
  public static let maximumPartBytes = 1023

  /// The whole normalised address.
  public let description: String
  /// Bytes of the local part; 0 without one.
  private let localEnd: UInt16
  /// Where the domain ends, in bytes of `description`.
  private let domainEnd: UInt16

  /// Parses and normalises `text`.
  public init(_ text: String) throws(JIDError) {
    if let layout = ASCIILayout(text) {
      self.init(description: text, localEnd: layout.localEnd, domainEnd: layout.domainEnd)
      return
    }
    if text.utf8.count > 3 * PRECIS.maximumBytes { throw JIDError(part: .whole, reason: "is too long") }
    // RFC 7622, section 3.1: the separators are found before anything is mapped, the slash first.
    var rest = text.utf8[...]
    var local: Substring.UTF8View?
    var resource: Substring.UTF8View?
    if let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
      resource = rest[rest.index(after: slash)...]
      rest = rest[..<slash]
    }
    if let at = rest.firstIndex(of: UInt8(ascii: "@")) {
      local = rest[..<at]
      rest = rest[rest.index(after: at)...]
    }
    try self.init(
      local: local.map { String(Substring($0)) }, domain: String(Substring(rest)),
      resource: resource.map { String(Substring($0)) })
  }

  /// Normalises and joins the parts. Nil is "no such part"; an empty part is refused.
  public init(local: String?, domain: String, resource: String?) throws(JIDError) {
    let domain = try DomainName.normalized(domain)
    try Self.checkLength(domain, .domain)
    if let local {
      self.init(normal: try Self.normalLocal(local) + "@" + domain, domainBytes: domain.utf8.count)
    } else {
      self.init(normal: domain, domainBytes: domain.utf8.count)
    }
    if let resource { self = try with(resource: resource) }
  }

  private init(normal bare: String, domainBytes: Int) {
    description = bare
    domainEnd = UInt16(bare.utf8.count)
    let domainStart = bare.utf8.count - domainBytes
    localEnd = domainStart == 0 ? 0 : UInt16(domainStart - 1)
  }

  private init(description: String, localEnd: UInt16, domainEnd: UInt16) {
    self.description = description
    self.localEnd = localEnd
    self.domainEnd = domainEnd
  }

  public var local: String? { localEnd == 0 ? nil : slice(0, Int(localEnd)) }

  public var domain: String { slice(localEnd == 0 ? 0 : Int(localEnd) + 1, Int(domainEnd)) }

  public var resource: String? { isBare ? nil : slice(Int(domainEnd) + 1, description.utf8.count) }

  /// Whether there is no resource.
  public var isBare: Bool { Int(domainEnd) == description.utf8.count }

  /// Whether there is a resource.
  public var isFull: Bool { !isBare }

  /// The address of the server that this one is on: the domain alone.
  public var server: JID { JID(normal: domain, domainBytes: domain.utf8.count) }

  /// The address without its resource.
  public var bare: JID {
    isBare ? self : JID(description: slice(0, Int(domainEnd)), localEnd: localEnd, domainEnd: domainEnd)
  }

  /// This address with another resource (normalised) in place of its own.
  public func with(resource: String) throws(JIDError) -> JID {
    appending(resource: try Self.normalized(resource, .resource, PRECIS.opaqueString))
  }

  /// A resource part, such as a nickname in a room, as addresses have it (RFC 7622, section 3.4): upper and lower case differ.
  public static func normalizedResource(_ text: String) throws(JIDError) -> String {
    try normalized(text, .resource, PRECIS.opaqueString)
  }

  /// This address with `resource`, which has been checked.
  func appending(resource: String) -> JID {
    JID(description: slice(0, Int(domainEnd)) + "/" + resource, localEnd: localEnd, domainEnd: domainEnd)
  }

  private func slice(_ start: Int, _ end: Int) -> String {
    withBytes { String(decoding: $0[start..<end], as: UTF8.self) }
  }

  /// RFC 7622, section 3.3: UsernameCaseMapped without eight characters.
  private static func normalLocal(_ text: String) throws(JIDError) -> String {
    let local = try normalized(text, .local, PRECIS.usernameCaseMapped)
    // Asked of the result, since a full-width solidus becomes a slash.
    if let byte = local.utf8.first(where: ASCIILayout.isForbiddenInLocal) {
      throw JIDError(part: .local, reason: "contains “\(Unicode.Scalar(byte))”, which is not allowed there")
    }
    return local
  }

  private static func normalized(
    _ text: String, _ part: JIDError.Part, _ profile: (String) throws(PRECISError) -> String
  ) throws(JIDError) -> String {
    let result: String
    do { result = try profile(text) } catch { throw JIDError(part: part, reason: error.description) }
    try checkLength(result, part)
    return result
  }

  private static func checkLength(_ text: String, _ part: JIDError.Part) throws(JIDError) {
    if text.utf8.count > maximumPartBytes {
      throw JIDError(part: part, reason: "is longer than \(maximumPartBytes) bytes")
    }
  }
}

extension JID {
  /// Byte for byte: String's own comparison is canonical equivalence, which is not RFC 7622's.
  public static func == (left: JID, right: JID) -> Bool {
    let count = left.description.utf8.count
    return count == right.description.utf8.count && left.isEqual(to: right, bytes: count)
  }

  /// Whether both are addresses of one account: equal without their resources.
  public func isSameAccount(as other: JID) -> Bool {
    domainEnd == other.domainEnd && isEqual(to: other, bytes: Int(domainEnd))
  }

  private func isEqual(to other: JID, bytes count: Int) -> Bool {
    withBytes { first in
      other.withBytes { second in
        // Neither is empty, so both have an address.
        guard let first = first.baseAddress, let second = second.baseAddress else { return false }
        return memcmp(first, second, count) == 0
      }
    }
  }

  public func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  private func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    description.utf8.withContiguousStorageIfAvailable(body) ?? Array(description.utf8).withUnsafeBufferPointer(body)
  }
}
