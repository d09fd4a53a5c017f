import JID

/// Who may do what: the configured groups, and the test of a list of rules. Only normalised addresses that the server
/// vouched for are compared; nicknames and resources never count.
public struct AccessPolicy: Sendable {
  /// The group whose members administer the bot.
  public static let adminGroup = "admins"

  private struct Group {
    var addresses: Set<JID> = []
    var domains: Set<String> = []

    func contains(_ jid: JID) -> Bool { entry(for: jid) != nil }

    /// The member by which `jid` belongs to the group.
    func entry(for jid: JID) -> AccessRule? {
      if addresses.contains(jid) { return .address(jid) }
      return jid.local != nil && domains.contains(jid.domain) ? .domain(jid.domain) : nil
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
      case .roster, .everyone, .none, .affiliation, .role:
        throw AccessRuleError(text: "\(member)", reason: "a group's member is an address or *@domain")
      }
    }
    groups[name] = group
  }

  /// Whether there is a group of this name, with members or without.
  public func hasGroup(_ name: String) -> Bool { groups[name] != nil }

  /// The groups' names, sorted, each with its members as they are written in the configuration, sorted, too.
  public var members: [(group: String, members: [String])] {
    groups.keys.sorted().map { name in
      let group = groups[name] ?? Group()
      return (name, (group.addresses.map(\.description) + group.domains.map { "*@\($0)" }).sorted())
    }
  }

  /// The groups that `jid` belongs to, sorted.
  public func groups(of jid: JID) -> [String] {
    let bare = jid.bare
    return groups.filter { $0.value.contains(bare) }.keys.sorted()
  }

  public func isAdmin(_ jid: JID) -> Bool { groups[Self.adminGroup]?.contains(jid.bare) ?? false }

  /// Whether any of `rules` admits `jid`. `inRoster` is asked only when a rule needs it.
  public func allows(_ jid: JID, _ rules: [AccessRule], inRoster: (JID) -> Bool) -> Bool {
    admission(of: AccessSubject(address: jid), rules, inRoster: inRoster) != nil
  }

  /// Whether the sender of `message` is admitted by any of `rules`.
  public func allows(_ message: ChatMessage, _ rules: [AccessRule], inRoster: (JID) -> Bool) -> Bool {
    admission(of: message.subject, rules, inRoster: inRoster) != nil
  }

  /// The first of `rules` that admits `subject`; nil when none does.
  ///
  /// An occupant whose address is hidden is admitted by affiliation, role or `everyone` alone. An affiliation or role
  /// admits those who stand higher, too.
  public func admission(
    of subject: AccessSubject, _ rules: [AccessRule], inRoster: (JID) -> Bool
  ) -> Admission? {
    for rule in rules {
      switch rule {
      case .address(let allowed): if allowed == subject.address { return Admission(rule: rule) }
      case .domain(let domain):
        if let address = subject.address, address.local != nil, address.domain == domain {
          return Admission(rule: rule)
        }
      case .group(let name):
        if let address = subject.address, let member = groups[name]?.entry(for: address) {
          return Admission(rule: rule, member: member)
        }
      case .roster: if let address = subject.address, inRoster(address) { return Admission(rule: rule) }
      case .affiliation(let least): if let own = subject.affiliation, own >= least { return Admission(rule: rule) }
      case .role(let least): if let own = subject.role, own >= least { return Admission(rule: rule) }
      case .everyone: return Admission(rule: rule)
      case .none: break
      }
    }
    return nil
  }
}
