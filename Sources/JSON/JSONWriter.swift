extension JSON {
  /// The value as JSON text in UTF-8: one line without spaces, or, `pretty`, indented by two spaces.
  ///
  /// Control characters (DEL and C1, too), line separators and what turns the writing direction are escaped, so a line
  /// stays a line and a terminal stays calm. NaN and the infinities, which
  /// JSON has not got, become `null`. What this writes, ``init(parsing:)-([UInt8])`` reads back, except for those, for keys
  /// with a NUL and for nesting beyond ``maximumDepth``.
  public func text(pretty: Bool = false) -> String { String(decoding: utf8(pretty: pretty), as: UTF8.self) }

  /// The bytes of ``text(pretty:)``.
  public func utf8(pretty: Bool = false) -> [UInt8] {
    var writer = JSONWriter(pretty: pretty)
    writer.write(self)
    return writer.output
  }
}

private struct JSONWriter {
  let pretty: Bool
  var output: [UInt8] = []
  private var depth = 0

  init(pretty: Bool) { self.pretty = pretty }

  mutating func write(_ value: JSON) {
    switch value {
    case .null: append("null")
    case .bool(let value): append(value ? "true" : "false")
    case .int(let value): append(String(value))
    case .double(let value): append(value.isFinite ? value.description : "null")
    case .string(let value): writeString(value)
    case .array(let elements):
      writeList(elements, open: "[", close: "]") { writer, element in writer.write(element) }
    case .object(let members):
      writeList(members, open: "{", close: "}") { writer, member in
        writer.writeString(member.key)
        writer.append(writer.pretty ? ": " : ":")
        writer.write(member.value)
      }
    }
  }

  private mutating func writeList<Items: Sequence>(
    _ items: Items, open: String, close: String, each: (inout JSONWriter, Items.Element) -> Void
  ) {
    append(open)
    depth += 1
    var isFirst = true
    for item in items {
      if !isFirst { append(",") }
      isFirst = false
      startLine()
      each(&self, item)
    }
    depth -= 1
    if !isFirst { startLine() }
    append(close)
  }

  private mutating func startLine() {
    guard pretty else { return }
    append("\n")
    for _ in 0..<depth { append("  ") }
  }

  private mutating func writeString(_ text: String) {
    append("\"")
    // Most texts hold nothing beyond ASCII that would need it.
    guard !text.utf8.contains(where: Self.mayStartUnsafe) else { return writeUnsafeString(text) }
    for byte in text.utf8 { write(byte) }
    append("\"")
  }

  private mutating func writeUnsafeString(_ text: String) {
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x80...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
        let code = String(scalar.value, radix: 16)
        append("\\u" + String(repeating: "0", count: 4 - code.utf8.count) + code)
      default: for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { write(byte) }
      }
    }
    append("\"")
  }

  /// Whether a character that begins with this byte could be one of those.
  private static func mayStartUnsafe(_ byte: UInt8) -> Bool {
    byte == 0xC2 || byte == 0xD8 || byte == 0xE2 || byte == 0xEF
  }

  /// A byte of a string's text.
  private mutating func write(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "\n"): append("\\n")
    case UInt8(ascii: "\r"): append("\\r")
    case UInt8(ascii: "\t"): append("\\t")
    case 0..<0x10: append("\\u000" + String(byte, radix: 16))
    case 0x10..<0x20, 0x7F: append("\\u00" + String(byte, radix: 16))
    default: output.append(byte)
    }
  }

  private mutating func append(_ text: String) { output += text.utf8 }
}
