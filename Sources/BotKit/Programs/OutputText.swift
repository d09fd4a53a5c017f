/// Makes text for a message or a log line of what a program printed.
public enum OutputText {
  /// `text` as a preformatted block (XEP-0393 version 1.1.1). A line that is or begins like the block's end gets a space before it:
  /// the XEP knows no longer fence and no escape.
  static func block(_ text: String) -> String {
    let fence = "```"
    guard text.utf8.contains(0x60) else { return "\(fence)\n\(text)\n\(fence)" }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return
      "\(fence)\n\(lines.map { $0.utf8.starts(with: fence.utf8) ? " " + $0 : $0 }.joined(separator: "\n"))\n\(fence)"
  }

  /// Decodes UTF-8, invalid bytes becoming U+FFFD; drops control characters but line breaks and tabs, terminal
  /// sequences (ECMA-48 CSI), what XML 1.0 forbids, and what a carriage return says to write over; drops line breaks at the
  /// end.
  public static func clean(_ bytes: some Collection<UInt8>) -> String {
    let plain = bytes.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x0a || $0 == 0x09 }
    let decoded = String(decoding: bytes, as: UTF8.self)
    var text = plain ? decoded : filter(decoded)
    while text.utf8.last == 0x0a { text.unicodeScalars.removeLast() }
    return text
  }

  /// `text`, or as much of it as fits into `limit` bytes and a word that it was cut off.
  static func cut(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    let kept = whole(Array(text.utf8.prefix(limit))[...])
    return String(decoding: kept, as: UTF8.self) + "\n(cut off at \(Units.text(bytes: limit)))"
  }

  /// `bytes` without a character that its end cuts in two.
  static func whole(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let lead = bytes.suffix(4).lastIndex(where: { $0 & 0xc0 != 0x80 }) else { return bytes }
    let length =
      switch bytes[lead] {
      case 0xc2...0xdf: 2
      case 0xe0...0xef: 3
      case 0xf0...0xf4: 4
      default: 1
      }
    return bytes.endIndex - lead < length ? bytes[..<lead] : bytes
  }

  private static func filter(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    // Inside "ESC [ …", which ends with a byte from @ to ~.
    var sequence = false
    var escape = false
    var returned = false
    for scalar in text.unicodeScalars {
      if returned, scalar != "\r" {
        returned = false
        if scalar != "\n" { result.removeLastLine() }
      }
      if sequence {
        if ("@"..."~").contains(scalar) { sequence = false }
        if scalar.isASCII { continue }
        sequence = false
      }
      if escape {
        escape = false
        if scalar == "[" {
          sequence = true
          continue
        }
      }
      switch scalar.value {
      case 0x1b: escape = true
      case 0x0d: returned = true
      case 0x09, 0x0a: result.append(scalar)
      case 0..<0x20, 0x7f..<0xa0, 0xfffe, 0xffff: break
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

extension String.UnicodeScalarView {
  /// Drops what is behind the last line break.
  fileprivate mutating func removeLastLine() {
    if let lineBreak = lastIndex(of: "\n") { removeSubrange(index(after: lineBreak)...) } else { removeAll() }
  }
}
