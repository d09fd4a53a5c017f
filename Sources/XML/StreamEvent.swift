/// What happens on an XML stream (RFC 6120, section 4).
public enum StreamEvent: Sendable, Hashable {
  /// The stream header: no children; ``Element/declaredDefaultNamespace`` tells the content namespace.
  case opened(Element)
  /// A complete first-level child: a stanza, or what negotiation sends.
  case element(Element)
  /// A first-level child that was read to its end but not kept, since it exceeds one of ``ParserLimits``: its start tag
  /// alone, and which limit. Any stranger can send such a thing, so it must not end the stream.
  case skipped(Element, reason: String)
  /// The stream's closing tag. Only white space may follow.
  case closed
}
