/// Cuts a stream of bytes into lines for the log, of bounded length and number.
struct LineSplitter {
  static let longest = 1000
  static let most = 200

  private var line: [UInt8] = []
  private var tooLong = false
  private var count = 0

  /// The lines completed by `bytes`; none beyond the first `most`.
  mutating func add(_ bytes: UnsafeRawBufferPointer) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == 0x0a {
        if let text = complete() { lines.append(text) }
      } else if line.count < Self.longest {
        line.append(byte)
      } else {
        tooLong = true
      }
    }
    return lines
  }

  /// A last line without its line break, and how many were left out.
  mutating func end() -> [String] {
    var lines: [String] = []
    if !line.isEmpty, let text = complete() { lines.append(text) }
    if count > Self.most { lines.append("(\(count - Self.most) more lines left out)") }
    return lines
  }

  private mutating func complete() -> String? {
    defer {
      line.removeAll(keepingCapacity: true)
      tooLong = false
    }
    count += 1
    if count > Self.most { return nil }
    return OutputText.clean(OutputText.whole(line[...])) + (tooLong ? "…" : "")
  }
}
