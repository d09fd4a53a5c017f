import JID
import XML

/// XEP-0203 (2.0): when, and by whom, a stanza was first taken before it was held back.
public struct Delay: Sendable, Hashable {
  /// Microseconds since 1970, UTC; nil when the stamp can't be read.
  public var stamp: Int64?
  public var from: String?

  init(_ element: Element) {
    stamp = element["stamp"].flatMap(Timestamp.parse)
    from = element["from"]
  }

  /// What we write: `stamp` in microseconds since 1970, UTC.
  public static func element(stamp: Int64, from: JID) -> Element {
    Element("delay", Namespace.delay, [("from", from.description), ("stamp", Timestamp.format(stamp))])
  }
}
