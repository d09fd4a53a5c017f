/// What is left of a command's time, which stands still while the command waits for its contact. Pure: the time comes in.
struct CommandTime {
  /// As of when it last stopped or went on.
  private(set) var left: Duration
  /// nil: it stands still.
  private var since: ContinuousClock.Instant?

  /// `limit` from `now` on.
  init(_ limit: Duration, from now: ContinuousClock.Instant) {
    left = limit
    since = now
  }

  mutating func stop(at now: ContinuousClock.Instant) {
    guard let since else { return }
    left = max(.zero, left - since.duration(to: now))
    self.since = nil
  }

  mutating func goOn(at now: ContinuousClock.Instant) {
    if since == nil { since = now }
  }
}
