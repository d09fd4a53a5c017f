import JID

/// One entry of an `allow` list.
public enum AccessRule: Sendable, Hashable {
  /// This address, from any of its resources.
  case address(JID)
  /// Every account of a domain, not of its subdomains: `*@example.org`.
  case domain(String)
  /// The members of a configured group: `@admins`.
  case group(String)
  /// Whoever is in the bot's roster with a subscription.
  case roster
  /// In a room, whoever has at least this affiliation: `affiliation:member`.
  case affiliation(Affiliation)
  /// In a room, whoever has at least this role: `role:moderator`.
  case role(Role)
  case everyone
  /// Nobody; for switching a command off.
  case none

  /// What applies when nothing is said.
  public static let admins: [AccessRule] = [.group(AccessPolicy.adminGroup)]

  /// As it is written in the configuration.
  public var asWritten: String {
    switch self {
    case .address(let jid): jid.description
    case .domain(let domain): "*@\(domain)"
    case .group(let name): "@\(name)"
    case .roster: "roster"
    case .affiliation(let least): "affiliation:\(least.rawValue)"
    case .role(let least): "role:\(least.rawValue)"
    case .everyone: "everyone"
    case .none: "none"
    }
  }

  /// Reads one entry as written in the configuration; addresses are normalised.
  public init(_ text: String) throws(AccessRuleError) {
    switch text {
    case "roster": self = .roster
    case "everyone": self = .everyone
    case "none": self = .none
    case _ where text.hasPrefix("affiliation:"):
      self = .affiliation(try Self.standing(text, [.member, .admin, .owner]))
    case _ where text.hasPrefix("role:"):
      self = .role(try Self.standing(text, [.visitor, .participant, .moderator]))
    case _ where text.hasPrefix("@"):
      let name = String(text.dropFirst())
      if name.isEmpty { throw AccessRuleError(text: text, reason: "a group's name follows the @, as in @admins") }
      self = .group(name)
    case _ where text.hasPrefix("*@"):
      let jid = try Self.parse(text, address: text.dropFirst(2))
      guard jid.local == nil, jid.resource == nil else {
        throw AccessRuleError(text: text, reason: "only a domain follows *@, as in *@example.org")
      }
      self = .domain(jid.domain)
    case _ where text.contains("@"):
      let jid = try Self.parse(text, address: text[...])
      if jid.resource != nil {
        throw AccessRuleError(
          text: text, reason: "a rule is for all of a contact's clients: remove “/” and what follows")
      }
      self = .address(jid)
    default:
      let kinds = "write an address, *@domain, @group, roster, affiliation:…, role:…, everyone or none"
      let hint =
        Suggestion.nearest(to: text, among: ["roster", "everyone", "none"]).map { "did you mean \($0)?" }
        ?? kinds + (text.contains(".") ? "; a whole domain is *@\(text)" : "")
      throw AccessRuleError(text: text, reason: hint)
    }
  }

  /// Reads entries separated by commas or white space.
  public static func list(_ text: String) throws(AccessRuleError) -> [AccessRule] {
    var rules: [AccessRule] = []
    for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
      rules.append(try AccessRule(String(word)))
    }
    return rules
  }

  /// What follows the colon: one of `levels`. The lowest of all is no rule, since it would mean everyone.
  private static func standing<Standing: RawRepresentable<String>>(
    _ text: String, _ levels: [Standing]
  ) throws(AccessRuleError) -> Standing {
    let word = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init) ?? ""
    if let level = levels.first(where: { $0.rawValue == word }) { return level }
    let words = levels.map(\.rawValue)
    let nearest = Suggestion.nearest(to: word, among: words).map { "did you mean \($0)?" }
    throw AccessRuleError(
      text: text, reason: nearest ?? "write one of \(words.joined(separator: ", ")); those above it are admitted, too")
  }

  private static func parse(_ text: String, address: Substring) throws(AccessRuleError) -> JID {
    do { return try JID(String(address)) } catch {
      throw AccessRuleError(text: text, reason: "no valid address: \(error)")
    }
  }
}

/// Why a text is no access rule, and what to write instead.
public struct AccessRuleError: Error, Sendable, Hashable, CustomStringConvertible {
  public let text: String
  public let reason: String
  public var description: String { "“\(text)”: \(reason)" }
}
