import EventLoop

/// Durations and sizes as people write them in the configuration.
enum Units {
  private static let durations: [(suffix: String, unit: Duration)] = [
    ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3600)), ("d", .seconds(86400)),
  ]

  /// `500ms`, `20s`, `5m`, `2h`, `90d`, up to a year; nil for anything else, zero included.
  static func duration(_ text: String) -> Duration? {
    for (suffix, unit) in durations where text.hasSuffix(suffix) {
      // At most nine digits: the product cannot overflow.
      guard let number = Int(text.dropLast(suffix.count)), (1...999_999_999).contains(number) else { continue }
      // More microseconds than a timer can count would end the process when it is set.
      return unit * number <= .seconds(365 * 86400) ? unit * number : nil
    }
    return nil
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

  /// `65536`, `64K`, `10M`, `2G`; nil for anything else, zero included.
  static func bytes(_ text: String) -> Int? {
    let unit = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)].first { text.hasSuffix($0.0) }
    // At most nine digits: the product cannot overflow.
    guard let number = Int(text.dropLast(unit == nil ? 0 : 1)), (1...999_999_999).contains(number) else { return nil }
    return number * (unit?.1 ?? 1)
  }

  static func text(bytes: Int) -> String {
    if bytes % 1_048_576 == 0, bytes > 0 { return "\(bytes / 1_048_576) M" }
    return bytes % 1024 == 0 && bytes > 0 ? "\(bytes / 1024) K" : "\(bytes) bytes"
  }
}
