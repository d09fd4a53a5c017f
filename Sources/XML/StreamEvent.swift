/// What happens on an XML stream (RFC 6120, section 4).
public enum StreamEvent: Sendable, Hashable {
  /// The stream header: no children; ``Element/declaredDefaultNamespace`` tells the content namespace.
  case opened(Element)
  /// A complete first-level child: a stanza, or what negotiation sends.
  case element(Element)
  /// The stream's closing tag. Only white space may follow.
  case closed
}
