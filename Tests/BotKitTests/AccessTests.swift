import JID
import Testing

@testable import BotKit

@Suite("Access")
struct AccessTests {
  let alice: JID
  let policy: AccessPolicy

  init() throws {
    alice = try JID("alice@example.org")
    var policy = AccessPolicy()
    try policy.add([.address(alice)], toGroup: "admins")
    try policy.add([.domain("ops.example.org")], toGroup: "ops")
    self.policy = policy
  }

  func allows(_ jid: String, _ rules: String, roster: [String] = []) throws -> Bool {
    policy.allows(try JID(jid), try AccessRule.list(rules)) { roster.contains($0.description) }
  }

  @Test("an address is admitted from any resource and in any case, and nobody else is")
  func address() throws {
    #expect(try allows("alice@example.org", "alice@example.org"))
    #expect(try allows("alice@example.org/phone", "alice@example.org"))
    #expect(try allows("alice@example.org", "Alice@Example.ORG"))
    #expect(try !allows("alice@example.com", "alice@example.org"))
    #expect(try !allows("alice2@example.org", "alice@example.org"))
    #expect(try !allows("mallory@example.com/alice@example.org", "alice@example.org"))
  }

  @Test("a domain rule takes in its accounts, not its subdomains, nor itself")
  func domain() throws {
    #expect(try allows("bob@example.org", "*@example.org"))
    #expect(try !allows("bob@sub.example.org", "*@example.org"))
    #expect(try !allows("bob@badexample.org", "*@example.org"))
    #expect(try !allows("example.org", "*@example.org"))
  }

  @Test("groups have addresses and domains as members; an unknown group is empty")
  func groups() throws {
    #expect(try allows("alice@example.org", "@admins"))
    #expect(try allows("carol@ops.example.org", "@ops"))
    #expect(try !allows("carol@ops.example.org", "@admins"))
    #expect(try !allows("alice@example.org", "@nobody"))
    #expect(policy.groups(of: alice) == ["admins"])
    #expect(policy.isAdmin(alice))
  }

  @Test("roster, everyone and none mean what they say")
  func words() throws {
    #expect(try allows("bob@example.com/x", "roster", roster: ["bob@example.com"]))
    #expect(try !allows("bob@example.com", "roster"))
    #expect(try allows("bob@example.com", "everyone"))
    #expect(try !allows("alice@example.org", "none"))
    #expect(try !allows("alice@example.org", ""))
    #expect(try allows("bob@example.com", "@admins, roster bob@example.com"))
  }

  @Test("in a room an affiliation or a role admits who has it or stands higher; in a chat nobody has one")
  func standing() throws {
    let room = try JID("ops@rooms.example.org")
    func allows(_ rules: String, _ affiliation: Affiliation?, _ role: Role?) throws -> Bool {
      var message = ChatMessage(sender: try JID("bob@example.net"), body: "x", room: affiliation == nil ? nil : room)
      message.affiliation = affiliation
      message.role = role
      return policy.allows(message, try AccessRule.list(rules)) { _ in false }
    }
    #expect(try allows("affiliation:admin", .admin, .visitor))
    #expect(try allows("affiliation:admin", .owner, .visitor))
    #expect(try !allows("affiliation:admin", .member, .moderator))
    #expect(try !allows("affiliation:member", Affiliation.none, .moderator))
    #expect(try !allows("affiliation:member", .outcast, nil))
    #expect(try allows("role:participant", Affiliation.none, .moderator))
    #expect(try !allows("role:participant", .owner, .visitor))
    #expect(try allows("affiliation:owner role:moderator", .member, .moderator))
    #expect(try !allows("affiliation:member role:visitor", nil, nil))
  }

  @Test("an occupant whose address is hidden is admitted by standing alone, not by what names the room, or their nick")
  func hidden() throws {
    let room = try JID("ops@rooms.example.org")
    var policy = policy
    try policy.add([.domain("rooms.example.org")], toGroup: "admins")
    var message = ChatMessage(sender: room, body: "x", nick: "alice@example.org", room: room)
    message.affiliation = .member
    for rules in ["ops@rooms.example.org", "*@rooms.example.org", "@admins", "roster", "alice@example.org"] {
      #expect(!policy.allows(message, try AccessRule.list(rules)) { _ in true }, "\(rules)")
    }
    #expect(policy.allows(message, try AccessRule.list("affiliation:member")) { _ in false })
    #expect(policy.allows(message, [.everyone]) { _ in false })
    message.sender = alice
    #expect(policy.allows(message, try AccessRule.list("@admins")) { _ in false }, "the room says who it is")
  }

  @Test("by which rule somebody is admitted is told: the first that does, and the group's entry")
  func admission() throws {
    func by(_ jid: String, _ rules: String) throws -> String? {
      let subject = AccessSubject(address: try JID(jid))
      return policy.admission(of: subject, try AccessRule.list(rules)) { _ in true }?.asWritten
    }
    #expect(try by("alice@example.org/phone", "@ops, @admins, everyone") == "@admins (alice@example.org)")
    #expect(try by("carol@ops.example.org", "@ops") == "@ops (*@ops.example.org)")
    #expect(try by("bob@example.net", "*@example.net roster") == "*@example.net")
    #expect(try by("bob@example.com", "*@example.net roster") == "roster")
    #expect(try by("bob@example.com", "@admins none") == nil)
  }

  @Test(
    "rules are written as they are read", arguments: ["affiliation:owner", "role:visitor", "@a", "*@b.example", "none"])
  func written(text: String) throws {
    #expect(try AccessRule(text).asWritten == text)
  }

  @Test(
    "what is no rule is refused with what to write",
    arguments: [
      ("affiliation:ownr", "did you mean owner?"), ("affiliation:none", "one of member, admin, owner"),
      ("role:", "one of visitor, participant, moderator"), ("role:Moderator", "did you mean moderator?"),
      ("example.org", "*@example.org"), ("@", "@admins"), ("alice@example.org/phone", "remove"), ("*@", "*@"),
      ("*@a@b", "only a domain"), ("Everyone", "everyone"),
    ])
  func refused(text: String, hint: String) {
    let error = #expect(throws: AccessRuleError.self) { try AccessRule(text) }
    #expect(error?.description.contains(hint) == true)
  }

  @Test(
    "a group cannot have a group, the roster or everyone as a member",
    arguments: [AccessRule.group("ops"), .roster, .everyone, .none, .affiliation(.owner), .role(.moderator)])
  func members(member: AccessRule) {
    var policy = policy
    #expect(throws: AccessRuleError.self) { try policy.add([member], toGroup: "admins") }
  }
}
