/// Addresses that our own server wrote.
extension JID {
  /// An address as it stands on a stanza from our own server.
  ///
  /// Local part and domain are normalised, for they decide who somebody is. The resource is taken as it is: clients put
  /// into it what RFC 7622 forbids (emoji joined by U+200D or followed by U+FE0F), servers pass that on, and an answer
  /// reaches it only byte for byte. It has 1 to 1023 bytes and no control characters.
  public init(received text: String) throws(JIDError) {
    // The resource begins behind the first slash (RFC 7622 section 3.1); one that is ASCII needs no thought.
    guard !text.utf8.allSatisfy({ $0 < 0x80 }), let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
      try self.init(text)
      return
    }
    let bare = try JID(String(text[..<slash]))
    self = try bare.with(receivedResource: String(text[text.utf8.index(after: slash)...]))
  }

  /// This address with a resource that our own server wrote, as ``init(received:)`` takes it.
  public func with(receivedResource resource: String) throws(JIDError) -> JID {
    if resource.isEmpty { throw JIDError(part: .resource, reason: "is empty") }
    if resource.utf8.count > Self.maximumPartBytes {
      throw JIDError(part: .resource, reason: "is longer than \(Self.maximumPartBytes) bytes")
    }
    if resource.unicodeScalars.contains(where: Self.isControl) {
      throw JIDError(part: .resource, reason: "contains a control character")
    }
    return appending(resource: resource)
  }

  /// Control characters, and the two that end a line without being called so.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
    default: false
    }
  }
}
