import JID
import XMPPStanzas

/// The account's contacts as last told by the server, and the version they stand at (RFC 6121 section 2.6).
public struct Roster: Sendable {
  public private(set) var items: [JID: RosterItem] = [:]
  public private(set) var version: String?

  /// What changed, for whoever keeps a copy.
  public enum Change: Sendable {
    /// All of it.
    case replaced
    case updated(RosterItem)
    case removed(JID)
  }

  public init(items: [RosterItem] = [], version: String? = nil) {
    for item in items { self.items[item.jid] = item }
    self.version = version
  }

  /// The contact sees our presence: it was accepted once.
  public func isContact(_ jid: JID) -> Bool {
    guard let subscription = items[jid.bare]?.subscription else { return false }
    return subscription == .from || subscription == .both
  }

  mutating func replace(with query: RosterQuery) -> Change {
    self = Roster(items: query.items, version: query.version)
    return .replaced
  }

  mutating func apply(_ push: RosterQuery) -> Change? {
    // Exactly one item (RFC 6121 section 2.1.6).
    guard let item = push.items.first, push.items.count == 1 else { return nil }
    if let version = push.version { self.version = version }
    guard item.subscription != .remove else {
      items[item.jid] = nil
      return .removed(item.jid)
    }
    items[item.jid] = item
    return .updated(item)
  }
}
