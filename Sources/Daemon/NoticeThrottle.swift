/// How many lines a flood of refused stanzas may write: twenty at once, then one a second; the journal would otherwise
/// drop other lines for them. Pure.
struct NoticeThrottle {
  static let burst = 20.0
  static let perSecond = 1.0

  private var left = Self.burst
  private var countedAt: ContinuousClock.Instant?
  private var suppressed = 0

  /// What is to be written of `notice`; nil for nothing. The first line after a gap says how many are missing.
  mutating func line(_ notice: String, at now: ContinuousClock.Instant) -> String? {
    if let countedAt {
      left = min(Self.burst, left + countedAt.duration(to: now) / .seconds(1) * Self.perSecond)
    }
    countedAt = now
    guard left >= 1 else {
      suppressed += 1
      return nil
    }
    left -= 1
    defer { suppressed = 0 }
    return suppressed == 0 ? notice : "\(notice) (and \(suppressed) more before it)"
  }
}
