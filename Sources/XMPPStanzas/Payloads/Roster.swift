import JID
import XML

/// RFC 6121 section 2: one contact in the account's roster.
public struct RosterItem: Sendable, Hashable {
  public enum Subscription: String, Sendable { case none, to, from, both, remove }

  public var jid: JID
  public var name: String?
  public var subscription: Subscription
  /// Our request to see the contact's presence waits for an answer.
  public var isPending: Bool
  public var groups: [String]

  public init(
    jid: JID, name: String? = nil, subscription: Subscription = .none, isPending: Bool = false, groups: [String] = []
  ) {
    self.jid = jid
    self.name = name
    self.subscription = subscription
    self.isPending = isPending
    self.groups = groups
  }

  init?(_ element: Element) {
    guard element.isNamed("item", Namespace.roster), let jid = element["jid"].flatMap({ try? JID($0) }) else {
      return nil
    }
    self.init(
      jid: jid.bare, name: element["name"],
      subscription: element["subscription"].flatMap(Subscription.init(rawValue:)) ?? .none,
      isPending: element["ask"] == "subscribe",
      groups: element.elements.filter { $0.isNamed("group", Namespace.roster) }.map(\.text))
  }

  /// The item as it goes into a roster set. Subscription and ask are the server's, except to remove it (section 2.1.2).
  var element: Element {
    Element(
      "item", Namespace.roster,
      [("jid", jid.description), ("name", name), ("subscription", subscription == .remove ? "remove" : nil)],
      groups.map { Element("group", Namespace.roster, text: $0) })
  }
}

/// The `<query xmlns='jabber:iq:roster'/>` of a result, push or set.
public struct RosterQuery: Sendable, Hashable {
  /// The roster's version (section 2.6), when the server versions it.
  public var version: String?
  public var items: [RosterItem]

  public init(version: String? = nil, items: [RosterItem] = []) {
    self.version = version
    self.items = items
  }

  /// Items with a malformed address are left out.
  public init?(_ element: Element) {
    guard element.isNamed("query", Namespace.roster) else { return nil }
    version = element["ver"]
    items = element.elements.compactMap(RosterItem.init)
  }

  public var element: Element {
    Element("query", Namespace.roster, [("ver", version)], items.map(\.element))
  }
}
