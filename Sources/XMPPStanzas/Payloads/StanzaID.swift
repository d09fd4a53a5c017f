import XML

/// XEP-0359 (0.7): the id that an entity on the way gave to a message. Only as good as the entity in `by`.
public struct StanzaID: Sendable, Hashable {
  public var id: String
  /// The entity that says it gave the id; an address as it came.
  public var by: String

  public init(id: String, by: String) {
    self.id = id
    self.by = by
  }

  init?(_ element: Element) {
    guard let id = element["id"], let by = element["by"] else { return nil }
    self.init(id: id, by: by)
  }
}
