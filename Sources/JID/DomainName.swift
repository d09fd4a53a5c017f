import CIDN2
import Glibc

/// Normalisation of a domainpart (RFC 7622, section 3.2; IDNA2008).
enum DomainName {
  /// The bytes that a name may have in the DNS, as ASCII (RFC 1035, section 2.3.4, without the root's dot).
  private static let maximumASCIIBytes = 253

  /// The normal form: IP addresses in their canonical form, A-labels as U-labels, everything lower case, no final dot.
  static func normalized(_ text: String) throws(JIDError) -> String {
    if text.utf8.count > PRECIS.maximumBytes { throw refusal("is longer than \(JID.maximumPartBytes) bytes") }
    let name = text.utf8.last == UInt8(ascii: ".") ? String(text.dropLastASCII()) : text
    if name.isEmpty { throw refusal("is empty") }
    if name.utf8.first == UInt8(ascii: "[") {
      return try ipv6(name)
    }
    // The width comes first: a full-width dot separates labels too, and so does an ideographic one (RFC 5895).
    let scalars = UnicodeData.widthMapped(UnicodeData.scalars(name)).map { $0 == 0x3002 ? 0x2E : $0 }
    var labels: [Label] = []
    for part in scalars.split(separator: 0x2E, omittingEmptySubsequences: false) { labels.append(try Label(part)) }
    try checkDirection(labels)
    let ascii = labels.map(\.ascii).joined(separator: ".")
    try checkNumeric(ascii)
    if ascii.utf8.count > maximumASCIIBytes { throw refusal("is longer than \(maximumASCIIBytes) bytes in ASCII") }
    return labels.map(\.unicode).joined(separator: ".")
  }

  /// In a name with a right-to-left label, each label satisfies the Bidi Rule (RFC 5893, section 2).
  private static func checkDirection(_ labels: [Label]) throws(JIDError) {
    let texts = labels.map { UnicodeData.scalars($0.unicode) }
    if texts.contains(where: BidiRule.isRightToLeft), !texts.allSatisfy({ BidiRule.isSatisfied(by: $0) }) {
      throw refusal(PRECISError.direction.description)
    }
  }

  /// A last label of digits is an IPv4 address or a mistake: resolvers read "127.1" as one.
  private static func checkNumeric(_ name: String) throws(JIDError) {
    guard let last = name.utf8.split(separator: UInt8(ascii: ".")).last, last.allSatisfy(Label.isDigit) else { return }
    var address = in_addr()
    if inet_pton(AF_INET, name, &address) != 1 { throw refusal("ends in a number and is not an IPv4 address") }
  }

  private static func ipv6(_ text: String) throws(JIDError) -> String {
    var address = in6_addr()
    let inner = String(decoding: text.utf8.dropFirst().dropLast(), as: UTF8.self)
    // A NUL would end the text early for C.
    guard text.utf8.last == UInt8(ascii: "]"), !inner.utf8.contains(0), inet_pton(AF_INET6, inner, &address) == 1
    else { throw refusal("is not an IPv6 address in brackets") }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(AF_INET6, &address, buffer.baseAddress, socklen_t(buffer.count))
      return "[" + (buffer.baseAddress.map { String(cString: $0) } ?? inner) + "]"
    }
  }

  static func refusal(_ reason: String) -> JIDError { JIDError(part: .domain, reason: reason) }
}

extension DomainName {
  /// One label: an NR-LDH label, or a U-label with its A-label (RFC 5890, section 2.3).
  struct Label {
    let unicode: String
    let ascii: String

    init(_ text: some Collection<UInt32>) throws(JIDError) {
      guard let lower = UnicodeData.lowercased(Array(text)), let scalars = UnicodeData.nfc(lower) else {
        throw refusal(PRECISError.outOfMemory.description)
      }
      let label = UnicodeData.string(scalars)
      if label.utf8.contains(where: { $0 >= 0x80 }) {
        (unicode, ascii) = (label, try Self.aLabel(label))
      } else if label.utf8.starts(with: "xn--".utf8) {
        try Self.checkASCII(label.utf8)
        (unicode, ascii) = (try Self.uLabel(label), label)
      } else {
        try Self.checkASCII(label.utf8)
        if label.utf8.dropFirst(2).starts(with: "--".utf8) { throw refusal("has the reserved label “\(label)”") }
        (unicode, ascii) = (label, label)
      }
    }

    /// Letters, digits and hyphens, no hyphen at an end, 1 to 63 bytes.
    static func isLDH(_ label: some BidirectionalCollection<UInt8>) -> Bool {
      let hyphen = UInt8(ascii: "-")
      return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
        && label.allSatisfy { (0x61...0x7A).contains($0) || isDigit($0) || $0 == hyphen }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func checkASCII(_ label: String.UTF8View) throws(JIDError) {
      if label.isEmpty { throw refusal("has an empty label") }
      if !isLDH(label) { throw refusal("has a label that is not 1 to 63 letters, digits and inner hyphens") }
    }

    private static func aLabel(_ label: String) throws(JIDError) -> String {
      // The rules for registration, not for lookup: those check the context of CONTEXTO characters too.
      var result: UnsafeMutablePointer<UInt8>?
      let status = idn2_register_u8(label, nil, &result, 0)
      defer { idn2_free(result) }
      guard status == IDN2_OK.rawValue, let result, !label.utf8.contains(0) else {
        throw refusal("has a label that IDNA2008 does not allow: \(String(cString: idn2_strerror(status)))")
      }
      let ascii = String(cString: result)
      try checkASCII(ascii.utf8)
      return ascii
    }

    private static func uLabel(_ label: String) throws(JIDError) -> String {
      var result: UnsafeMutablePointer<CChar>?
      let status = idn2_to_unicode_8z8z(label, &result, 0)
      defer { idn2_free(result) }
      guard status == IDN2_OK.rawValue, let result, let unicode = String(validatingCString: result),
        unicode.utf8.contains(where: { $0 >= 0x80 }), try aLabel(unicode) == label
      else { throw refusal("has the invalid A-label “\(label)”") }
      return unicode
    }
  }
}

extension String {
  /// All but the last character, which the caller knows to be ASCII (a Character may be longer than a scalar).
  fileprivate func dropLastASCII() -> Substring { Substring(utf8.dropLast()) }
}
