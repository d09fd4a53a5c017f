import EventLoop

/// Durations and sizes as people write them, in the descriptions of commands as in the configuration (whose own reading is in
/// Configuration; a test holds the two together).
enum Units {
  private static let durations = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
  private static let sizes = ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30]

  /// `500ms`, `20s`, `5m`, `2h`, `90d`; nil for anything else, and for what is not in `range`.
  static func duration(_ text: String, in range: ClosedRange<Duration>) -> Duration? {
    guard let total = total(text, durations) else { return nil }
    return range.contains(.milliseconds(total)) ? .milliseconds(total) : nil
  }

  /// `65536`, `64K`, `10M`, `2G`; nil for anything else, and for what is not in `range`.
  static func bytes(_ text: String, in range: ClosedRange<Int>) -> Int? {
    total(text, sizes).flatMap { range.contains($0) ? $0 : nil }
  }

  /// A whole number, white space perhaps, and one of the units.
  private static func total(_ text: String, _ units: [String: Int]) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let rest = text[digits.endIndex...].drop { $0 == " " || $0 == "\t" }
    guard let number = Int(digits), let unit = units[String(rest)] else { return nil }
    let (total, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : total
  }

  /// The shortest exact form: `90 s`, `5 min`, `2 h`, `250 ms`.
  static func text(_ duration: Duration) -> String {
    let milliseconds = Int64(duration.microseconds / 1000)
    if milliseconds % 1000 != 0 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1000
    if seconds % 3600 == 0, seconds > 0 { return "\(seconds / 3600) h" }
    return seconds % 60 == 0 && seconds > 0 ? "\(seconds / 60) min" : "\(seconds) s"
  }

  /// About how long: the two largest units, `3 d 4 h`, `12 min 5 s`.
  static func approximate(_ duration: Duration) -> String {
    let seconds = Int64(duration.microseconds / 1_000_000)
    let parts = [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
    let first = parts.firstIndex { $0.0 > 0 } ?? parts.count - 1
    return parts[first...].prefix(2).filter { $0.0 > 0 || first == parts.count - 1 }
      .map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }

  static func text(bytes: Int) -> String {
    if bytes % 1_048_576 == 0, bytes > 0 { return "\(bytes / 1_048_576) M" }
    return bytes % 1024 == 0 && bytes > 0 ? "\(bytes / 1024) K" : "\(bytes) bytes"
  }
}
