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
    for item in items { set(item, for: item.jid) }
    self.version = version
  }

  /// The contact sees our presence: it was accepted once.
  public func isContact(_ jid: JID) -> Bool {
    guard let subscription = items[jid.bare]?.subscription else { return false }
    return subscription == .from || subscription == .both
  }

  /// About the bytes of the roster as XML.
  private(set) var bytes = 0

  private mutating func set(_ item: RosterItem?, for jid: JID) {
    if let old = items[jid] { bytes -= Self.bytes(of: old) }
    if let item { bytes += Self.bytes(of: item) }
    items[jid] = item
  }

  private static func bytes(of item: RosterItem) -> Int {
    let tags = 80 + 16 * item.groups.count
    return tags + escaped(item.jid.description) + escaped(item.name ?? "")
      + item.groups.reduce(0) { $0 + escaped($1) }
  }

  private static func escaped(_ text: String) -> Int {
    text.utf8.reduce(0) { count, byte in
      switch byte {
      case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "'"), UInt8(ascii: "\""): count + 6
      default: count + 1
      }
    }
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
      set(nil, for: item.jid)
      return .removed(item.jid)
    }
    set(item, for: item.jid)
    return .updated(item)
  }
}
