/// When a text that grows is shown: a moment after it has changed, and at most once in that time. So what is printed at once
/// is one message, and no message before its time is up.
struct LiveThrottle {
  static let interval = Duration.seconds(1)

  private var lastShown: ContinuousClock.Instant?
  private var isWaiting = false

  /// It has grown. How long to wait before it is shown; nil: somebody waits already.
  mutating func changed(at now: ContinuousClock.Instant) -> Duration? {
    guard !isWaiting else { return nil }
    isWaiting = true
    guard let lastShown else { return Self.interval }
    return max(.zero, Self.interval - lastShown.duration(to: now))
  }

  /// The time has come, and it is shown.
  mutating func show(at now: ContinuousClock.Instant) {
    isWaiting = false
    lastShown = now
  }
}
