import EventLoop

/// Keeps a program that talks without end from filling the log: so many lines in a time, then only their number.
struct LogBudget {
  static let lines = 100
  static let period = Duration.seconds(10)

  private var began: ContinuousClock.Instant?
  private var count = 0

  /// What may be logged instead of `line`: that, that and a word on those left out before it, or nothing.
  mutating func admit(_ line: String, now: ContinuousClock.Instant) -> [String] {
    var admitted: [String] = []
    if let began, began.duration(to: now) < Self.period {
      count += 1
    } else {
      if count > Self.lines { admitted.append("(\(count - Self.lines) more lines left out)") }
      (began, count) = (now, 1)
    }
    if count <= Self.lines { admitted.append(line) }
    return admitted
  }
}
