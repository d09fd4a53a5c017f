import XML

/// XEP-0333 (1.0.0): up to which message somebody has read. `received` and `acknowledged` are of earlier versions, which
/// clients still send.
public enum Marker: Sendable, Hashable {
  /// The sender wants to be told. Its message needs an id.
  case markable
  /// All up to the message with this id has been taken.
  case received(String)
  /// All up to the message with this id has been shown.
  case displayed(String)
  /// All up to the message with this id has been shown, and somebody said so.
  case acknowledged(String)

  /// Nil for what says nothing, such as a marker that does not name its message.
  init?(_ element: Element) {
    switch (element.name, element["id"]) {
    case ("markable", _): self = .markable
    case ("received", let id?): self = .received(id)
    case ("displayed", let id?): self = .displayed(id)
    case ("acknowledged", let id?): self = .acknowledged(id)
    default: return nil
    }
  }

  var element: Element {
    switch self {
    case .markable: Element("markable", Namespace.markers)
    case .received(let id): Element("received", Namespace.markers, [("id", id)])
    case .displayed(let id): Element("displayed", Namespace.markers, [("id", id)])
    case .acknowledged(let id): Element("acknowledged", Namespace.markers, [("id", id)])
    }
  }
}
