import JID

/// Who may do what: the configured groups, and the test of a list of rules. Only normalised addresses that the server
/// vouched for are compared; nicknames and resources never count.
public struct AccessPolicy: Sendable {
  /// The group whose members administer the bot.
  public static let adminGroup = "admins"

  private struct Group {
    var addresses: Set<JID> = []
    var domains: Set<String> = []

    func contains(_ jid: JID) -> Bool {
      addresses.contains(jid) || (jid.local != nil && domains.contains(jid.domain))
    }
  }

  private var groups: [String: Group] = [:]

  public init() {}

  /// Adds members to the group `name`, which exists from then on. Only addresses and `*@domain` can be members.
  public mutating func add(_ members: [AccessRule], toGroup name: String) throws(AccessRuleError) {
    var group = groups[name] ?? Group()
    for member in members {
      switch member {
      case .address(let jid): group.addresses.insert(jid.bare)
      case .domain(let domain): group.domains.insert(domain)
      case .group(let other):
        throw AccessRuleError(text: "@\(other)", reason: "a group has no groups as members: list the addresses")
      case .roster, .everyone, .none:
        throw AccessRuleError(text: "\(member)", reason: "a group's member is an address or *@domain")
      }
    }
    groups[name] = group
  }

  /// Whether there is a group of this name, with members or without.
  public func hasGroup(_ name: String) -> Bool { groups[name] != nil }

  /// The groups that `jid` belongs to, sorted.
  public func groups(of jid: JID) -> [String] {
    let bare = jid.bare
    return groups.filter { $0.value.contains(bare) }.keys.sorted()
  }

  public func isAdmin(_ jid: JID) -> Bool { groups[Self.adminGroup]?.contains(jid.bare) ?? false }

  /// Whether any of `rules` admits `jid`. `inRoster` is asked only when a rule needs it.
  public func allows(_ jid: JID, _ rules: [AccessRule], inRoster: (JID) -> Bool) -> Bool {
    let bare = jid.bare
    return rules.contains { rule in
      switch rule {
      case .address(let allowed): allowed == bare
      case .domain(let domain): bare.local != nil && bare.domain == domain
      case .group(let name): groups[name]?.contains(bare) ?? false
      case .roster: inRoster(bare)
      case .everyone: true
      case .none: false
      }
    }
  }
}
