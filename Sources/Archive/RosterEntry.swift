/// A contact as the server's roster has it (RFC 6121, 2.1).
public struct RosterEntry: Sendable, Hashable {
  public enum Subscription: String, Sendable { case none, to, from, both }
  /// Bare JID.
  public var jid: String
  public var name: String?
  public var subscription: Subscription
  /// We asked for the contact's presence and wait for the answer.
  public var ask: Bool
  public var groups: [String]

  public init(
    jid: String, name: String? = nil, subscription: Subscription = .none, ask: Bool = false, groups: [String] = []
  ) {
    self.jid = jid
    self.name = name
    self.subscription = subscription
    self.ask = ask
    self.groups = groups
  }
}
