import JID
import XML

/// An info/query stanza (RFC 6120 section 8.2.3).
public struct IQ: Sendable {
  public enum Kind: String, Sendable { case get, set, result, error }

  public var kind: Kind
  public var id: String
  public var from: JID?
  public var to: JID?
  /// The one child that says what is asked or answered.
  public var payload: Element?
  public var error: StanzaError?

  /// A request of our own.
  public init(_ kind: Kind, id: String, to: JID? = nil, payload: Element) {
    self.kind = kind
    self.id = id
    self.to = to
    self.payload = payload
  }

  public init(_ element: Element) throws(StanzaFault) {
    guard let kind = element["type"].flatMap(Kind.init(rawValue:)) else {
      throw StanzaFault("<iq/> of type '\(element["type"] ?? "")'")
    }
    guard let id = element["id"] else { throw StanzaFault("<iq/> without an id") }
    self.kind = kind
    self.id = id
    from = try element.address("from")
    to = try element.address("to")
    payload = element.elements.first { !$0.isNamed("error", Namespace.client) }
    if kind == .error { error = StanzaError(errorStanza: element) }
  }

  public var isRequest: Bool { kind == .get || kind == .set }

  /// The answer to this request.
  public func result(_ payload: Element? = nil) -> Element {
    Element(
      "iq", Namespace.client, [("type", "result"), ("id", id), ("to", from?.description)], payload.map { [$0] } ?? [])
  }

  /// The refusal of this request.
  public func refusal(_ error: StanzaError) -> Element {
    Element("iq", Namespace.client, [("type", "error"), ("id", id), ("to", from?.description)], [error.element])
  }

  public var element: Element {
    Element(
      "iq", Namespace.client, [("type", kind.rawValue), ("id", id), ("to", to?.description)],
      payload.map { [$0] } ?? [])
  }
}
