import XML

/// XEP-0184 (1.4.0): whether a message reached a client of its recipient.
public enum Receipt: Sendable, Hashable {
  /// The sender wants to be told. Its message needs an id.
  case request
  /// The message with this id has been taken.
  case received(String)

  /// Nil for what says nothing, such as a receipt that does not name its message.
  init?(_ element: Element) {
    switch (element.name, element["id"]) {
    case ("request", _): self = .request
    case ("received", let id?): self = .received(id)
    default: return nil
    }
  }

  var element: Element {
    switch self {
    case .request: Element("request", Namespace.receipts)
    case .received(let id): Element("received", Namespace.receipts, [("id", id)])
    }
  }
}
