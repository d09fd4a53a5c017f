import XML

/// XEP-0030 (2.5), section 4: what belongs to an entity.
public struct DiscoItems: Sendable, Hashable {
  public struct Item: Sendable, Hashable {
    public var jid: String
    public var node: String?
    public var name: String?

    public init(jid: String, node: String? = nil, name: String? = nil) {
      self.jid = jid
      self.node = node
      self.name = name
    }
  }

  public var node: String?
  public var items: [Item]

  public init(node: String? = nil, items: [Item] = []) {
    self.node = node
    self.items = items
  }

  public var element: Element {
    Element(
      "query", Namespace.discoItems, [("node", node)],
      items.map {
        Element("item", Namespace.discoItems, [("jid", $0.jid), ("node", $0.node), ("name", $0.name)])
      })
  }
}
