/// How much of something is taken within a day, so that what comes again and again stays bounded. Pure.
///
/// Within any 24 hours at most `most` are granted. What is taken within ten minutes counts as taken at the end of them, so hardly
/// anything has to be remembered.
public struct DailyAllowance: Sendable {
  public let most: Int
  private var taken: [(first: ContinuousClock.Instant, last: ContinuousClock.Instant, count: Int)] = []
  private static let day = Duration.seconds(86_400)
  private static let step = Duration.seconds(600)

  public init(most: Int) { self.most = most }

  /// So much may be taken at present.
  public mutating func left(now: ContinuousClock.Instant) -> Int {
    taken.removeAll { $0.last.advanced(by: Self.day) <= now }
    return max(0, most - taken.reduce(0) { $0 + $1.count })
  }

  /// This much was taken, whether it was granted or not.
  public mutating func take(_ count: Int = 1, now: ContinuousClock.Instant) {
    if let last = taken.indices.last, taken[last].first.advanced(by: Self.step) > now {
      taken[last].last = now
      taken[last].count += count
    } else {
      _ = left(now: now)
      taken.append((now, now, count))
    }
  }

  /// How long it takes until something is granted again; nil where something is left.
  public mutating func wait(now: ContinuousClock.Instant) -> Duration? {
    guard left(now: now) == 0, let first = taken.first else { return nil }
    return now.duration(to: first.last.advanced(by: Self.day))
  }
}
