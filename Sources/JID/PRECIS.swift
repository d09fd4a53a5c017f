/// Preparation and enforcement of internationalised strings (RFC 8264), for the profiles that XMPP uses.
enum PRECIS {
  /// Longer input is refused before any work is done. It is three times the 1023 bytes of an address part, since a
  /// full-width letter of 3 bytes becomes one of 1 byte.
  static let maximumBytes = 3 * 1023

  /// UsernameCaseMapped (RFC 8265, section 3.3): what a localpart is.
  static func usernameCaseMapped(_ text: String) throws(PRECISError) -> String {
    try checkLength(text)
    if text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return asciiLowercased(text) }
    return try stable(text) { scalars throws(PRECISError) in
      let narrow = UnicodeData.widthMapped(scalars)
      try check(narrow, isFreeform: false)
      guard let lower = UnicodeData.lowercased(narrow), let result = UnicodeData.nfc(lower) else {
        throw .outOfMemory
      }
      if BidiRule.isRightToLeft(result) && !BidiRule.isSatisfied(by: result) { throw .direction }
      return result
    }
  }

  /// OpaqueString (RFC 8265, section 4.2): what a resourcepart is.
  static func opaqueString(_ text: String) throws(PRECISError) -> String {
    try checkLength(text)
    if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
    return try stable(text) { scalars throws(PRECISError) in
      try check(scalars, isFreeform: true)
      let spaced = scalars.map { UnicodeData.isSpace($0) ? 0x20 : $0 }
      guard let result = UnicodeData.nfc(spaced) else { throw .outOfMemory }
      return result
    }
  }

  private static func checkLength(_ text: String) throws(PRECISError) {
    if text.isEmpty { throw .empty }
    if text.utf8.count > maximumBytes { throw .tooLong }
  }

  static func asciiLowercased(_ text: String) -> String {
    guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
    return String(decoding: text.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Refuses what the string class does not allow.
  private static func check(_ text: [UInt32], isFreeform: Bool) throws(PRECISError) {
    for (index, scalar) in text.enumerated() {
      switch DerivedProperty(scalar) {
      case .valid: continue
      case .freeformOnly: if !isFreeform { throw .disallowed(scalar) }
      case .contextual: if !ContextRule.isSatisfied(at: index, in: text) { throw .context(scalar) }
      case .disallowed, .unassigned: throw .disallowed(scalar)
      }
    }
  }

  /// Applies a profile until nothing changes, at most three times more than once (RFC 8264, section 7).
  private static func stable(
    _ text: String, _ profile: ([UInt32]) throws(PRECISError) -> [UInt32]
  ) throws(PRECISError) -> String {
    var current = try profile(UnicodeData.scalars(text))
    for _ in 1...3 {
      let next = try profile(current)
      if next == current { return UnicodeData.string(current) }
      current = next
    }
    throw .unstable
  }
}

/// Why PRECIS refuses a string.
enum PRECISError: Error, Sendable, Hashable, CustomStringConvertible {
  case empty
  /// Longer than ``PRECIS/maximumBytes``.
  case tooLong
  /// A code point that the string class does not allow.
  case disallowed(UInt32)
  /// A code point that is allowed in other surroundings only (RFC 5892, appendix A).
  case context(UInt32)
  /// Text of mixed direction (RFC 5893).
  case direction
  /// The rules change the string again and again.
  case unstable
  case outOfMemory

  var description: String {
    switch self {
    case .empty: "is empty"
    case .tooLong: "is longer than \(PRECIS.maximumBytes) bytes"
    case .disallowed(let scalar): "contains \(Self.name(scalar)), which is not allowed here"
    case .context(let scalar): "contains \(Self.name(scalar)) where its neighbours do not allow it"
    case .direction: "mixes directions of writing in a way that RFC 5893 forbids"
    case .unstable: "has no stable normalised form"
    case .outOfMemory: "could not be normalised: out of memory"
    }
  }

  static func name(_ scalar: UInt32) -> String {
    let digits = String(scalar, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
