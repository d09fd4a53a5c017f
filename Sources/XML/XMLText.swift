/// What XML 1.0 lets text and names consist of.
public enum XMLText {
  /// `text` with U+FFFD in place of each character that XML 1.0 forbids (section 2.2): the control characters other than
  /// tab, line feed and carriage return, U+FFFE and U+FFFF.
  public static func sanitized(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isForbidden) else { return text }
    var view = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { view.append(isForbidden(scalar) ? "\u{FFFD}" : scalar) }
    return String(view)
  }

  static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD: false
    case 0..<0x20, 0xFFFE, 0xFFFF: true
    default: false
    }
  }

  /// Equal as XML sees it. String's == alone is canonical equivalence, where U+212A is a "K". The count tells the two
  /// apart when one side is ASCII, as names in XMPP are.
  static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left == right
  }

  /// `name` with "_" in place of each character that no NCName may have there (Namespaces in XML 1.0, section 3). A wrong
  /// name is a mistake in a program; it must not become an injection, nor end a daemon.
  static func sanitizedName(_ name: String) -> String {
    // Nearly all names are lower-case letters and hyphens.
    if let first = name.utf8.first, isLowerLetter(first), name.utf8.allSatisfy({ isLowerLetter($0) || $0 == 0x2D }) {
      return name
    }
    var isFirst = true
    var isValid = !name.isEmpty
    for scalar in name.unicodeScalars {
      isValid = isValid && (isNameStart(scalar) || (!isFirst && isNameRest(scalar)))
      isFirst = false
    }
    if isValid { return name }
    var view = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      view.append(isNameStart(scalar) || (!view.isEmpty && isNameRest(scalar)) ? scalar : "_")
    }
    return view.isEmpty ? "_" : String(view)
  }

  private static func isLowerLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  /// NameStartChar without the colon (XML 1.0, section 2.3).
  private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
      0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
      0x10000...0xEFFFF:
      true
    default: false
    }
  }

  /// What NameChar adds to NameStartChar.
  private static func isNameRest(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
    default: false
    }
  }
}
