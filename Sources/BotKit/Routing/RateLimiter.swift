/// How many commands a sender may send: `count` at once, and after that as many again in each `period`.
public struct RateLimit: Sendable, Hashable {
  public var count: Int
  public var period: Duration

  public init(count: Int, per period: Duration) {
    self.count = max(1, count)
    self.period = period
  }
}

/// A token bucket for each speaker, kept as the moment at which the bucket will be full again
/// (the generic cell rate algorithm, ITU-T I.371), so that an idle speaker's entry says nothing and can be forgotten.
struct RateLimiter {
  enum Verdict: Hashable {
    case admitted
    /// Too many, and the first since the bucket was last full: say so.
    case warn
    /// Too many, and already told.
    case refused
  }

  private struct Bucket {
    var full: ContinuousClock.Instant
    var warned = false
  }

  /// nil: unlimited.
  var limit: RateLimit?
  private var buckets: SpeakerTable<Bucket>

  init(_ limit: RateLimit?, speakers: Int = 4096) {
    self.limit = limit
    buckets = SpeakerTable(capacity: speakers) { $0.full }
  }

  var remembered: Int { buckets.count }

  mutating func admit(_ speaker: Speaker, now: ContinuousClock.Instant) -> Verdict {
    guard let limit else { return .admitted }
    var bucket = buckets[speaker] ?? Bucket(full: now)
    if bucket.full <= now { bucket = Bucket(full: now) }
    let full = bucket.full + limit.period / limit.count
    guard full - now <= limit.period else {
      if bucket.warned { return .refused }
      bucket.warned = true
      buckets[speaker] = bucket
      return .warn
    }
    bucket.full = full
    buckets[speaker] = bucket
    return .admitted
  }
}
