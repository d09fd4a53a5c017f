/// How often a hook may be called: `count` times at once, and as many again in each `period`; kept as the moment at which
/// all of them are free again (the generic cell rate algorithm, ITU-T I.371).
public struct CallRate: Sendable, Hashable {
  public let count: Int
  public let period: Duration
  private var full: ContinuousClock.Instant?

  public init(count: Int, per period: Duration) {
    self.count = max(1, count)
    self.period = period
  }

  /// Nil: it may be; else after how long it may.
  public mutating func admit(at now: ContinuousClock.Instant) -> Duration? {
    let next = max(full ?? now, now) + period / count
    let excess = (next - now) - period
    guard excess <= .zero else { return excess }
    full = next
    return nil
  }
}
