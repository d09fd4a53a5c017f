import XML

/// XEP-0045 (1.35.1), section 7.2: `<x/>` in a presence by which somebody asks to enter a room.
public struct RoomJoin: Sendable, Hashable {
  /// How much of what was said before is asked for (section 7.2.14).
  public enum History: Sendable, Hashable {
    /// Nothing: what was missed comes another way, or is none of ours.
    case nothing
    /// What was said from this time on: microseconds since 1970, UTC; asked for in whole seconds.
    case since(Int64)
  }

  public var password: String?
  public var history: History

  public init(password: String? = nil, history: History = .nothing) {
    self.password = password
    self.history = history
  }

  public var element: Element {
    var join = Element("x", Namespace.muc)
    if let password { join.append(Element("password", Namespace.muc, text: password)) }
    let limit: (String, String?) =
      switch history {
      case .nothing: ("maxstanzas", "0")
      case .since(let time): ("since", Timestamp.format(time, wholeSeconds: true))
      }
    join.append(Element("history", Namespace.muc, [limit]))
    return join
  }

  /// Section 10.1.2: takes a room that we have made as it is by default, which unlocks it.
  public static let acceptDefaults = Element(
    "query", Namespace.mucOwner, [], [Element("x", Namespace.dataForms, [("type", "submit")])])

  /// Section 7.5: what marks a private message through a room.
  static let privateMark = Element("x", Namespace.mucUser)
}
