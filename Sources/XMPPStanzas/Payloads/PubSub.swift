import XML

/// XEP-0060 (1.26.0): what a publisher needs of it to keep nodes with one item on its own account (XEP-0163, 1.2.2).
public enum PubSub {
  /// Asks for a node's newest item (section 6.5).
  public static func newestItem(of node: String) -> Element {
    Element(
      "pubsub", Namespace.pubsub, [],
      [Element("items", Namespace.pubsub, [("node", node), ("max_items", "1")])])
  }

  /// The payload of the newest item in the answer; nil when there is none.
  public static func payload(in answer: Element?, of node: String) -> Element? {
    guard let answer, answer.isNamed("pubsub", Namespace.pubsub),
      let items = answer.child("items", Namespace.pubsub), items["node"] == node
    else { return nil }
    for case .element(let item) in items.children where item.isNamed("item", Namespace.pubsub) {
      for case .element(let payload) in item.children { return payload }
    }
    return nil
  }

  /// Publishes an item (section 7.1); the node is made when there is none.
  public static func publish(_ payload: Element, id: String, to node: String) -> Element {
    let item = Element("item", Namespace.pubsub, [("id", id)], [payload])
    return Element(
      "pubsub", Namespace.pubsub, [], [Element("publish", Namespace.pubsub, [("node", node)], [item])])
  }
}
