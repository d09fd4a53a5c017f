import XML

/// XEP-0280 (1.0.1): a copy of what another device of the account has sent or received.
public struct Carbon: Sendable {
  public enum Direction: String, Sendable { case sent, received }

  public var direction: Direction
  public var forwarded: Forwarded

  /// Reads `<sent/>` or `<received/>`.
  /// - Throws: when no message can be read in it.
  public init(_ element: Element) throws(StanzaFault) {
    guard element.namespace == Namespace.carbons, let direction = Direction(rawValue: element.name) else {
      throw StanzaFault("<\(element.name)/> is no carbon")
    }
    self.direction = direction
    forwarded = try Forwarded(in: element)
  }

  /// Asks for copies from now on (section 4); a request of type `set` to the account.
  public static var enable: Element { Element("enable", Namespace.carbons) }
}
