import XML

/// XEP-0203 (2.0): when, and by whom, a stanza was first taken before it was held back.
public struct Delay: Sendable, Hashable {
  /// Microseconds since 1970, UTC; nil when the stamp can't be read.
  public var stamp: Int64?
  public var from: String?

  public init(stamp: Int64, from: String? = nil) {
    self.stamp = stamp
    self.from = from
  }

  init(_ element: Element) {
    stamp = element["stamp"].flatMap(Timestamp.parse)
    from = element["from"]
  }

  /// Nil without a stamp, which a delay must have.
  public var element: Element? {
    stamp.map { Element("delay", Namespace.delay, [("from", from), ("stamp", Timestamp.format($0))]) }
  }
}
