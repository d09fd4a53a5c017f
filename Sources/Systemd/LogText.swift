/// Text that may come from a stranger, on its way to a log.
///
/// What would end the line, move the cursor, change colours or turn the reading direction is written as `\n`, `\x1b` or
/// `\u{202e}`, so that one record stays one line and says what it says. All else stays as it is.
enum LogText {
  /// Longer texts are cut here, at a character's end, with `…`.
  static let limit = 65_536

  static func append(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { utf8 in
      let cut = utf8.count > limit
      if !cut, !utf8.contains(where: mayNeedEscape) {
        bytes.append(contentsOf: utf8)
        return
      }
      let end = cut ? boundary(in: utf8, atMost: limit) : utf8.count
      for scalar in String(decoding: utf8[..<end], as: UTF8.self).unicodeScalars { append(scalar, to: &bytes) }
      if cut { bytes.append(contentsOf: "…".utf8) }
    }
  }

  /// Whether a character that begins with this byte could need an escape.
  private static func mayNeedEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 || byte == 0xEF || byte == 0xF3
  }

  private static func boundary(in utf8: UnsafeBufferPointer<UInt8>, atMost limit: Int) -> Int {
    var end = limit
    while end > 0, utf8[end] & 0xC0 == 0x80 { end -= 1 }
    return end
  }

  private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    switch scalar {
    case "\n": bytes.append(contentsOf: "\\n".utf8)
    case "\r": bytes.append(contentsOf: "\\r".utf8)
    case "\t": bytes.append(contentsOf: "\\t".utf8)
    case _ where isDangerous(scalar):
      let code = String(scalar.value, radix: 16)
      bytes.append(
        contentsOf: (scalar.value < 0x100 ? "\\x" + (code.count < 2 ? "0" : "") + code : "\\u{\(code)}").utf8)
    default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }

  /// Controls (C0, DEL, C1), line separators, marks and overrides of direction, byte order marks, tags.
  private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF,
      0xE0000...0xE007F:
      true
    default: false
    }
  }
}
