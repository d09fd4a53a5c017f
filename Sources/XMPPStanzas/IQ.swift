import JID
import XML

/// An info/query stanza (RFC 6120 section 8.2.3).
public struct IQ: Sendable {
  public enum Kind: String, Sendable { case get, set, result, error }

  public var kind: Kind
  public var id: String
  public var from: JID?
  public var to: JID?
  /// The one child that says what is asked or answered. Nil in a request that has none, or several, which is as bad.
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
    for case .element(let child) in element.children where !child.isNamed("error", Namespace.client) {
      if payload == nil {
        payload = child
      } else if isRequest {
        payload = nil
        break
      }
    }
    if kind == .error { error = StanzaError(errorStanza: element) }
  }

  public var isRequest: Bool { kind == .get || kind == .set }

  /// The answer to this request.
  public func result(_ payload: Element? = nil) -> Element {
    answer("result", payload)
  }

  /// The refusal of this request.
  public func refusal(_ error: StanzaError) -> Element {
    answer("error", error.element)
  }

  private func answer(_ type: String, _ child: Element?) -> Element {
    var answer = Element("iq", Namespace.client, [("type", type), ("id", id), ("to", from?.description)])
    if let child { answer.append(child) }
    return answer
  }

  public var element: Element {
    var iq = Element("iq", Namespace.client, [("type", kind.rawValue), ("id", id), ("to", to?.description)])
    if let payload { iq.append(payload) }
    return iq
  }
}
