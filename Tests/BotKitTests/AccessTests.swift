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

  @Test(
    "what is no rule is refused with what to write",
    arguments: [
      ("example.org", "*@example.org"), ("@", "@admins"), ("alice@example.org/phone", "remove"), ("*@", "*@"),
      ("*@a@b", "only a domain"), ("Everyone", "everyone"),
    ])
  func refused(text: String, hint: String) {
    let error = #expect(throws: AccessRuleError.self) { try AccessRule(text) }
    #expect(error?.description.contains(hint) == true)
  }

  @Test(
    "a group cannot have a group, the roster or everyone as a member",
    arguments: [AccessRule.group("ops"), .roster, .everyone, .none])
  func members(member: AccessRule) {
    var policy = policy
    #expect(throws: AccessRuleError.self) { try policy.add([member], toGroup: "admins") }
  }
}
