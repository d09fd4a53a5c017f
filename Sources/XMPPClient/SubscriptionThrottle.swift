/// How many requests to subscribe are acted upon, for each costs three stanzas and a row: a hundred at once, then ten a
/// second. The rest stays unanswered until it is asked again; the server asks again whenever we come online (RFC 6121
/// section 3.1.3). Pure.
struct SubscriptionThrottle {
  enum Verdict: Hashable {
    case act
    case ignore
    /// The first of many that are ignored.
    case ignoreAndTell
  }

  static let burst = 100.0
  static let perSecond = 10.0

  private var left = Self.burst
  private var countedAt: ContinuousClock.Instant?
  private var isFlooded = false

  mutating func admit(at now: ContinuousClock.Instant) -> Verdict {
    if let countedAt {
      left = min(Self.burst, left + countedAt.duration(to: now) / .seconds(1) * Self.perSecond)
    }
    countedAt = now
    // The flood is over when all is as before it.
    if left == Self.burst { isFlooded = false }
    guard left < 1 else {
      left -= 1
      return .act
    }
    defer { isFlooded = true }
    return isFlooded ? .ignore : .ignoreAndTell
  }
}
