import EventLoop

/// When a handler that ended is started again: soon, then ever later, until it has run for a while.
struct RestartPolicy: Sendable {
  let first: Duration
  let longest: Duration
  private var next: Duration

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
    next = first
  }

  /// The pause after it ran for `time`. Whoever ran longer than the longest pause starts afresh.
  mutating func pause(afterRunningFor time: Duration) -> Duration {
    if time >= longest { next = first }
    defer { next = min(next * 2, longest) }
    return next
  }
}
