import XMPPStream

/// How long to wait before the next attempt: exponential back-off with full jitter, for ever. Pure.
public struct ReconnectPolicy: Sendable {
  /// The longest wait after a fault that may pass by itself.
  static let transientCeiling = Duration.seconds(60)
  /// The waits after a fault that somebody has to mend (a wrong password): servers lock accounts that hammer.
  static let permanentWaits: [Duration] = [.seconds(60), .seconds(300), .seconds(900), .seconds(3_600)]
  /// The waits after a conflict: the other one may be there for good.
  static let conflictWaits: [Duration] = [.seconds(300), .seconds(900), .seconds(3_600)]
  /// Online for so long, a session counts as healthy and the back-off begins anew.
  static let healthyAfter = Duration.seconds(30)
  /// So many lost sessions in a row are taken up again at once; then back-off. One is earned back each ten seconds.
  static let quickRetries = 6.0

  /// Attempts that failed since the last good session.
  private(set) var failures = 0
  private var permanentFailures = 0
  private var conflicts = 0
  private var quickRetriesLeft = Self.quickRetries
  private var countedAt: ContinuousClock.Instant?
  private var onlineSince: ContinuousClock.Instant?

  public init() {}

  /// Stanzas flow.
  public mutating func online(at now: ContinuousClock.Instant) {
    onlineSince = now
    permanentFailures = 0
  }

  /// The session that stands, if any, has lasted long enough to be a good one.
  public func isHealthy(at now: ContinuousClock.Instant) -> Bool {
    onlineSince.map { $0.duration(to: now) >= Self.healthyAfter } ?? false
  }

  /// The stream ended, or the attempt failed. `random` is in 0..<1.
  public mutating func delay(
    after failure: StreamFailure, at now: ContinuousClock.Instant, random: Double
  ) -> Duration {
    let wasOnline = onlineSince != nil
    if isHealthy(at: now) {
      failures = 0
      // A good session that only another conflict ends says nothing about the next.
      if failure.severity != .conflict { conflicts = 0 }
    }
    onlineSince = nil
    switch failure.severity {
    case .conflict:
      conflicts += 1
      return Self.conflictWaits[min(conflicts, Self.conflictWaits.count) - 1] * (1 + random / 2)
    case .permanent:
      permanentFailures += 1
      return Self.permanentWaits[min(permanentFailures, Self.permanentWaits.count) - 1] * (0.75 + random / 2)
    case .transient:
      if wasOnline, takeQuickRetry(at: now) { return .zero }
      failures += 1
      let ceiling = min(Self.transientCeiling, .milliseconds(500) * (1 << min(failures, 16)))
      return ceiling * random
    }
  }

  private mutating func takeQuickRetry(at now: ContinuousClock.Instant) -> Bool {
    if let countedAt {
      quickRetriesLeft = min(Self.quickRetries, quickRetriesLeft + countedAt.duration(to: now) / .seconds(10))
    }
    countedAt = now
    guard quickRetriesLeft >= 1 else { return false }
    quickRetriesLeft -= 1
    return true
  }
}
