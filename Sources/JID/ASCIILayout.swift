/// Where the parts of an address lie that is ASCII and normal already, as nearly all are. Nil: take the long way, which
/// also finds the reason if there is something wrong.
struct ASCIILayout {
  /// Bytes of the local part; 0 without one.
  let localEnd: UInt16
  let domainEnd: UInt16

  init?(_ text: String) {
    guard let found = text.utf8.withContiguousStorageIfAvailable(Self.find), let found else { return nil }
    (localEnd, domainEnd) = found
  }

  /// " & ' / : < > @ (RFC 7622, section 3.3.1).
  static func isForbiddenInLocal(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x26, 0x27, 0x2F, 0x3A, 0x3C, 0x3E, 0x40: true
    default: false
    }
  }

  private static func find(_ bytes: UnsafeBufferPointer<UInt8>) -> (UInt16, UInt16)? {
    let slash = bytes.firstIndex(of: UInt8(ascii: "/"))
    let bare = bytes[..<(slash ?? bytes.count)]
    let at = bare.firstIndex(of: UInt8(ascii: "@"))
    if let slash, !isNormalResource(bytes[(slash + 1)...]) { return nil }
    if let at, !isNormalLocal(bare[..<at]) { return nil }
    guard isNormalDomain(bare[(at.map { $0 + 1 } ?? 0)...]) else { return nil }
    return (UInt16(at ?? 0), UInt16(bare.endIndex))
  }

  private static func isNormalLocal(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    (1...JID.maximumPartBytes).contains(bytes.count)
      && bytes.allSatisfy { (0x21...0x7E).contains($0) && !(0x41...0x5A).contains($0) && !isForbiddenInLocal($0) }
  }

  private static func isNormalResource(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    (1...JID.maximumPartBytes).contains(bytes.count) && bytes.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// Host names only; what needs thought (IP addresses, A-labels, reserved labels) takes the long way.
  private static func isNormalDomain(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard bytes.count <= 253 else { return false }
    var rest = bytes
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      guard isPlainLabel(rest[..<dot]) else { return false }
      rest = rest[(dot + 1)...]
    }
    return isPlainLabel(rest) && !rest.allSatisfy(DomainName.Label.isDigit)
  }

  private static func isPlainLabel(_ label: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    DomainName.Label.isLDH(label)
      && !(label.count >= 4 && label[label.startIndex + 2] == 0x2D && label[label.startIndex + 3] == 0x2D)
  }
}
