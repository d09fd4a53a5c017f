/// Makes text for a message of what came from outside: text and nothing else, and not too much of it.
enum HookText {
  /// Bytes of a whole text.
  static let longest = 16_000

  /// `text` with U+FFFD for each control character, line breaks of any kind as line feeds, none at the end, cut at `limit`
  /// bytes.
  static func block(_ text: String, _ limit: Int = longest) -> String {
    var result = ""
    var room = limit
    var returned = false
    for scalar in text.unicodeScalars {
      defer { returned = scalar == "\r" }
      if scalar == "\n", returned { continue }
      let clean = cleaned(scalar)
      room -= UTF8.width(clean)
      if room < 0 {
        result += "…"
        break
      }
      result.unicodeScalars.append(clean)
    }
    while let last = result.unicodeScalars.last, last == "\n" || last == " " { result.unicodeScalars.removeLast() }
    return result
  }

  /// The same on one line, cut at `limit` characters; runs of white space are one space.
  static func line(_ text: String, _ limit: Int = 300) -> String {
    // No more is looked at than could be of use.
    let words = block(text, 16 * limit).split(whereSeparator: \.isWhitespace)
    let line = words.joined(separator: " ")
    return line.count > limit ? line.prefix(limit - 1) + "…" : line
  }

  /// An address that a person may follow; nil for anything else.
  static func link(_ text: String?) -> String? {
    guard let text, text.utf8.count <= 2_000, text.hasPrefix("https://") || text.hasPrefix("http://"),
      !text.unicodeScalars.contains(where: { $0.value <= 0x20 || cleaned($0) == "\u{FFFD}" })
    else { return nil }
    return text
  }

  /// What XML 1.0 forbids (section 2.2), and what steers terminals.
  private static func cleaned(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    case 0x09, 0x0A: scalar
    case 0x0D, 0x85, 0x2028, 0x2029: "\n"
    case 0..<0x20, 0x7F..<0xA0, 0xFFFE, 0xFFFF: "\u{FFFD}"
    default: scalar
    }
  }
}
