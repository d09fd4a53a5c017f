import XML

/// XEP-0297 (1.0): a message inside another one.
///
/// One level is read and no more: what the inner message carries in its turn stays the element that it is.
public struct Forwarded: Sendable {
  /// When the entity that forwards it first had it.
  public var delay: Delay?
  public var message: Message
  /// The inner message as it came.
  public var element: Element

  /// Reads the `<forwarded/>` inside `wrapper`.
  /// - Throws: when there is none, or no message in it, or one whose addresses can't be read.
  init(in wrapper: Element) throws(StanzaFault) {
    guard let forwarded = wrapper.child("forwarded", Namespace.forward) else {
      throw StanzaFault("<\(wrapper.name)/> with nothing forwarded in it")
    }
    guard let element = forwarded.child("message", Namespace.client) else {
      throw StanzaFault("<\(wrapper.name)/> with no message in it")
    }
    delay = forwarded.child("delay", Namespace.delay).map(Delay.init)
    message = try Message(element)
    self.element = element
  }
}
