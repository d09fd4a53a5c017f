import EventLoop

/// Keeps a program that talks without end from filling the log: so many lines in a time, then only their number.
struct LogBudget {
  static let period = Duration.seconds(10)

  /// How many lines pass in a period.
  let lines: Int

  private var began: ContinuousClock.Instant?
  private var count = 0

  init(lines: Int = 100) { self.lines = lines }

  /// What may be logged instead of `line`: that, that and a word on those left out before it, or nothing.
  mutating func admit(_ line: String, now: ContinuousClock.Instant) -> [String] {
    var admitted: [String] = []
    if let began, began.duration(to: now) < Self.period {
      count += 1
    } else {
      if count > lines { admitted.append("(\(count - lines) more lines left out)") }
      (began, count) = (now, 1)
    }
    if count <= lines { admitted.append(line) }
    if count == lines { admitted.append("(whatever more comes within \(Units.text(Self.period)) is left out)") }
    return admitted
  }
}
