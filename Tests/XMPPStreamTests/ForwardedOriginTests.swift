import JID
import Testing
import XML
import XMPPStanzas
import XMPPStream

@Suite("The gate, for messages in messages")
struct ForwardedOriginTests {
  private var policy: OriginPolicy

  init() throws {
    policy = OriginPolicy(own: try JID("bot@example.org/r"))
    policy.expectsCarbons = true
    policy.trustsAccountIDs = true
    policy.expectResults(queryID: "q1", from: try JID("bot@example.org"))
    policy.expectResults(queryID: "q2", from: try JID("room@chat.example"))
  }

  private func admit(_ xml: String) throws -> OriginPolicy.Admission {
    try policy.admit(.message(Message(Element(parsing: "<message xmlns='jabber:client'" + xml.dropFirst(8)))))
  }

  private func isRefused(_ xml: String) throws -> Bool {
    if case .refused = try admit(xml) { true } else { false }
  }

  /// A carbon of `message`, from `from`.
  private func carbon(
    _ direction: String, _ message: String, from: String = "from='bot@example.org'", delay: String = ""
  ) -> String {
    """
    <message \(from) to='bot@example.org/r'><\(direction) xmlns='urn:xmpp:carbons:2'>\
    <forwarded xmlns='urn:xmpp:forward:0'>\(delay)<message xmlns='jabber:client'\(message.dropFirst(8))</forwarded>\
    </\(direction)></message>
    """
  }

  /// A result of an archive that holds `message`.
  private func result(
    _ message: String, id: String = "id='u1'", query: String = "queryid='q1'", from: String = "from='bot@example.org'",
    delay: String = "<delay xmlns='urn:xmpp:delay' stamp='2026-11-30T10:00:00Z'/>"
  ) -> String {
    """
    <message \(from) to='bot@example.org/r'><result xmlns='urn:xmpp:mam:2' \(query) \(id)>\
    <forwarded xmlns='urn:xmpp:forward:0'>\(delay)<message xmlns='jabber:client'\(message.dropFirst(8))</forwarded>\
    </result></message>
    """
  }

  private static let toUs = "<message from='alice@example.org/x' to='bot@example.org/phone'><body>hi</body></message>"
  private static let fromUs = "<message from='bot@example.org/phone' to='alice@example.org'><body>yes</body></message>"

  // MARK: - Carbons

  @Test("a carbon from the account's own address is let in, with its direction, and is no message")
  func carbons() throws {
    for from in ["from='bot@example.org'", "from='BOT@example.org'", ""] {
      guard case .carbon(let copy) = try admit(carbon("received", Self.toUs, from: from)) else {
        Issue.record("not let in: \(from)")
        continue
      }
      #expect(copy.direction == .received)
      #expect(try copy.message.from == JID("alice@example.org/x"))
      #expect(copy.message.body == "hi" && copy.element.name == "message")
    }
    guard case .carbon(let copy) = try admit(carbon("sent", Self.fromUs)) else { throw Unexpected() }
    #expect(copy.direction == .sent)
    #expect(try copy.message.to == JID("alice@example.org"))
  }

  private struct Unexpected: Error {}

  @Test(
    "a carbon from anybody else is refused: a contact, another resource of ours, the server (CVE-2017-5589)",
    arguments: [
      "eve@evil.example", "bot@example.org/phone", "bot@example.org/r", "example.org", "bot@example.org.evil.example",
      "b\u{43E}t@example.org",
    ])
  func forgedCarbons(_ from: String) throws {
    #expect(try isRefused(carbon("received", Self.toUs, from: "from='\(from)'")))
    #expect(try isRefused(carbon("sent", Self.fromUs, from: "from='\(from)'")))
  }

  @Test("a carbon before carbons are enabled is refused, even from the account")
  mutating func notEnabled() throws {
    policy.expectsCarbons = false
    #expect(try isRefused(carbon("received", Self.toUs)))
  }

  @Test("a carbon of what the account has neither received nor sent is refused")
  func strangersCarbons() throws {
    #expect(try isRefused(carbon("received", Self.fromUs)))
    #expect(try isRefused(carbon("sent", Self.toUs)))
    #expect(try isRefused(carbon("received", "<message from='alice@example.org'><body>x</body></message>")))
    #expect(try isRefused(carbon("sent", "<message to='alice@example.org'><body>x</body></message>")))
    #expect(try isRefused(carbon("received", "<message from='a@b.example' to='c@d.example'><body>x</body></message>")))
  }

  @Test("a carbon whose message can't be read, or carries another wrapper, is refused and ends nothing")
  func badCarbons() throws {
    #expect(try isRefused(carbon("received", "<message from='@' to='bot@example.org'></message>")))
    #expect(try isRefused("<message from='bot@example.org'><sent xmlns='urn:xmpp:carbons:2'/></message>"))
    for wrapper in [
      "<sent xmlns='urn:xmpp:carbons:2'/>", "<result xmlns='urn:xmpp:mam:2' id='x' queryid='q1'/>",
      "<event xmlns='http://jabber.org/protocol/pubsub#event'/>",
    ] {
      let inner = "<message from='eve@evil.example' to='bot@example.org'>\(wrapper)<body>x</body></message>"
      #expect(try isRefused(carbon("received", inner)))
      #expect(try isRefused(result(inner)))
    }
  }

  @Test("what another device hears in its rooms is not ours")
  func groupchatCarbon() throws {
    let inner =
      "<message type='groupchat' from='room@chat.example/n' to='bot@example.org/phone'><body>x</body></message>"
    guard case .ignored = try admit(carbon("received", inner)) else { throw Unexpected() }
  }

  @Test("ids in a carbon count as in any message: the account's only, and only if its server vouches for them")
  mutating func carbonIDs() throws {
    let inner = """
      <message from='alice@example.org' to='bot@example.org'><stanza-id xmlns='urn:xmpp:sid:0' id='i' by='BOT@example.org'/>\
      <stanza-id xmlns='urn:xmpp:sid:0' id='j' by='alice@example.org'/></message>
      """
    guard case .carbon(let copy) = try admit(carbon("received", inner)) else { throw Unexpected() }
    #expect(copy.message.stanzaIDs == [StanzaID(id: "i", by: "bot@example.org")])
    policy.trustsAccountIDs = false
    guard case .carbon(let copy) = try admit(carbon("received", inner)) else { throw Unexpected() }
    #expect(copy.message.stanzaIDs.isEmpty)
  }

  // MARK: - Archives

  @Test("a result of the archive that was asked is let in, with the archive's id alone, and is no message")
  func results() throws {
    let inner = """
      <message from='alice@example.org/x' to='bot@example.org' type='chat'><body>hi</body>\
      <stanza-id xmlns='urn:xmpp:sid:0' id='forged' by='bot@example.org'/></message>
      """
    for from in ["from='bot@example.org'", ""] {
      guard case .archived(let message) = try admit(result(inner, from: from)) else { throw Unexpected() }
      #expect(try message.archive == JID("bot@example.org"))
      #expect(message.id == "u1" && message.queryID == "q1" && !message.isOwn)
      #expect(message.message.stanzaIDs == [StanzaID(id: "u1", by: "bot@example.org")])
      #expect(message.stamp == Timestamp.parse("2026-11-30T10:00:00Z") && message.message.delay?.stamp == message.stamp)
      #expect(message.element.child("body", Namespace.client)?.text == "hi")
    }
    guard case .archived(let own) = try admit(result(Self.fromUs)) else { throw Unexpected() }
    #expect(own.isOwn)
  }

  @Test("a message in the archive without an address is from or to the account itself")
  func missingAddresses() throws {
    guard case .archived(let note) = try admit(result("<message from='bot@example.org/phone'></message>")) else {
      throw Unexpected()
    }
    #expect(try note.message.to == JID("bot@example.org"))
    guard case .archived(let word) = try admit(result("<message to='bot@example.org'></message>")) else {
      throw Unexpected()
    }
    #expect(try word.message.from == JID("bot@example.org"))
  }

  @Test(
    "a result from anybody but the archive asked is refused (CVE-2019-16235, CVE-2020-26547)",
    arguments: [
      "eve@evil.example", "bot@example.org/phone", "bot@example.org/r", "example.org", "room@chat.example",
      "room@chat.example/nick",
    ])
  func forgedResults(_ from: String) throws {
    #expect(try isRefused(result(Self.toUs, from: "from='\(from)'")))
  }

  @Test("a result of no open query is refused: none named, another one, one that has been answered")
  mutating func openQueries() throws {
    #expect(try isRefused(result(Self.toUs, query: "")))
    #expect(try isRefused(result(Self.toUs, query: "queryid='q3'")))
    #expect(try isRefused(result(Self.toUs, query: "queryid='q2'")))
    #expect(try !isRefused(result(Self.toUs)))
    policy.stopExpecting(queryID: "q1")
    #expect(try isRefused(result(Self.toUs)))
  }

  @Test("a result that is none, or that concerns others, is refused and ends nothing")
  func badResults() throws {
    #expect(try isRefused(result(Self.toUs, id: "")))
    #expect(try isRefused(result("<message from='a b@c.example' to='bot@example.org'></message>")))
    #expect(try isRefused(result("<message from='a@b.example' to='c@d.example'></message>")))
    #expect(
      try isRefused(
        "<message from='bot@example.org'><result xmlns='urn:xmpp:mam:2' id='u' queryid='q1'/></message>"))
  }

  @Test("a room's archive speaks for the room and its occupants, never for anybody else")
  func rooms() throws {
    func result(_ speaker: String, from: String = "room@chat.example") -> String {
      self.result(
        "<message type='groupchat' \(speaker)><body>x</body></message>", query: "queryid='q2'", from: "from='\(from)'")
    }
    guard case .archived(let message) = try admit(result("from='room@chat.example/nick'")) else { throw Unexpected() }
    #expect(try message.archive == JID("room@chat.example"))
    #expect(message.message.stanzaIDs == [StanzaID(id: "u1", by: "room@chat.example")])
    #expect(message.message.to == nil && !message.isOwn)
    for speaker in [
      "from='alice@example.org' to='bot@example.org'", "from='bot@example.org'", "from='r@chat.example/n'", "",
    ] {
      #expect(try isRefused(result(speaker)))
    }
    for from in ["room@chat.example/nick", "bot@example.org", "other@chat.example"] {
      #expect(try isRefused(result("from='room@chat.example/nick'", from: from)))
    }
  }

  @Test("a sender can make an archived message older than it is, as when it was held back, but never younger")
  func age() throws {
    func stamp(_ own: String, _ archive: String) throws -> Int64? {
      func delay(_ stamp: String) -> String { stamp.isEmpty ? "" : "<delay xmlns='urn:xmpp:delay' stamp='\(stamp)'/>" }
      let inner = "<message from='alice@example.org' to='bot@example.org'>\(delay(own))</message>"
      guard case .archived(let message) = try admit(result(inner, delay: delay(archive))) else { throw Unexpected() }
      #expect(message.stamp == Timestamp.parse(archive))
      return message.message.delay?.stamp
    }
    let (early, late) = ("2026-11-30T09:00:00Z", "2026-11-30T10:00:00Z")
    #expect(try stamp(early, late) == Timestamp.parse(early))
    #expect(try stamp(late, early) == Timestamp.parse(early))
    #expect(try stamp("", early) == Timestamp.parse(early))
    #expect(try stamp("soon", early) == Timestamp.parse(early))
    #expect(try stamp(early, "") == Timestamp.parse(early))
    #expect(try stamp("", "") == nil)
  }
}
