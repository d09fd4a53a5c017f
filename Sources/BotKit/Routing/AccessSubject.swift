import JID

/// Who asks, as far as rights go: what a server or a room vouches for. Nicknames and resources have no place here.
public struct AccessSubject: Sendable, Hashable {
  /// The bare address; nil where a room hides it.
  public var address: JID?
  /// Their standing in the room where it was said; nil in a chat.
  public var affiliation: Affiliation?
  public var role: Role?

  public init(address: JID?, affiliation: Affiliation? = nil, role: Role? = nil) {
    self.address = address?.bare
    self.affiliation = affiliation
    self.role = role
  }
}

/// By which rule somebody is admitted.
public struct Admission: Sendable, Hashable {
  public let rule: AccessRule
  /// Where the rule is a group: the entry of that group.
  public var member: AccessRule?

  /// For an operator: `@admins (alice@example.org)`.
  public var asWritten: String { rule.asWritten + (member.map { " (\($0.asWritten))" } ?? "") }
}

extension ChatMessage {
  /// The sender's own bare address; nil where a room hides it.
  public var address: JID? { sender == room ? nil : sender }

  public var subject: AccessSubject { AccessSubject(address: address, affiliation: affiliation, role: role) }
}
