/// How often something took how long: counts in buckets with fixed bounds. Counting allocates nothing.
public struct Histogram: Sendable, Hashable {
  /// Of answers: from what a person does not notice to what a command may take.
  public static let latencyBounds: [UInt64] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    30_000_000, 60_000_000,
  ]

  /// Microseconds, growing; a bucket holds what is not above its bound.
  private let bounds: [UInt64]
  /// One more than bounds: the last holds what is above all of them.
  private var counts: [UInt64]
  /// Of all that was counted, in microseconds.
  public private(set) var sum: UInt64 = 0

  public init(bounds: [UInt64] = Histogram.latencyBounds) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  public mutating func observe(microseconds: UInt64) {
    var index = 0
    while index < bounds.count, bounds[index] < microseconds { index += 1 }
    counts[index] &+= 1
    sum &+= microseconds
  }

  public var count: UInt64 { counts.reduce(0, &+) }

  /// Each bucket's own count, by growing bound; the last has none.
  public var buckets: [(bound: UInt64?, count: UInt64)] {
    counts.indices.map { ($0 < bounds.count ? bounds[$0] : nil, counts[$0]) }
  }
}
