import JID
import Testing

@Suite("Addresses that our own server wrote")
struct ReceivedTests {
  @Test(
    "a resource that PRECIS refuses is taken byte for byte",
    arguments: ["Phone \u{2764}\u{FE0F}", "\u{1F468}\u{200D}\u{1F4BB}", "e\u{301}", "a/b@c", "\u{E0A1}"])
  func resource(_ resource: String) throws {
    let jid = try JID(received: "Alice@Example.org/" + resource)
    #expect(Array(try #require(jid.resource).utf8) == Array(resource.utf8))
    #expect(jid.bare == (try JID("alice@example.org")))
    #expect(jid == (try jid.bare.with(receivedResource: resource)))
  }

  @Test("resources that differ only in normalisation are different")
  func byteWise() throws {
    let (composed, decomposed) = (try JID(received: "a@b.example/\u{E9}"), try JID(received: "a@b.example/e\u{301}"))
    #expect(composed != decomposed)
  }

  @Test(
    "what would forge an account, a log line or a huge row is refused",
    arguments: [
      "al ice@example.org/\u{E9}", "@example.org/\u{E9}", "alice@/\u{E9}", "alice@exa mple.org/\u{E9}",
      "alice@example.org/", "alice@example.org/\u{E9}\n", "alice@example.org/\u{E9}\u{85}",
      "alice@example.org/\u{2028}", "alice@example.org/\u{E9}\u{7F}", "alice@example.org/a\tb",
      "alice@example.org/" + String(repeating: "\u{E9}", count: 512), "",
    ])
  func refused(_ text: String) {
    #expect(throws: JIDError.self) { try JID(received: text) }
  }

  @Test("the local part is normalised, whatever the resource")
  func confusables() throws {
    #expect(try JID(received: "\u{FF21}lice@example.org/\u{FE0F}").local == "alice")
  }

  @Test("one account is told from another without regard to resources")
  func sameAccount() throws {
    let account = try JID("bot@example.org")
    for same in ["bot@example.org", "bot@example.org/a", "BOT@example.org/b"] {
      #expect(try account.isSameAccount(as: JID(same)))
      #expect(try JID(same).isSameAccount(as: account))
    }
    for other in ["bot@example.com", "bo@example.org", "example.org", "example.org/bot", "abot@example.org/bot"] {
      #expect(try !account.isSameAccount(as: JID(other)))
    }
  }
}
