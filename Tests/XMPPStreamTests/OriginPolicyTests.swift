import JID
import Testing
import XML
import XMPPStanzas
import XMPPStream

@Suite("The gate")
struct OriginPolicyTests {
  /// What becomes of the stanza, in a word or two.
  private func outcome(_ xml: String, trustsIDs: Bool = false) throws -> String {
    let start = xml.firstIndex { $0 == " " || $0 == "/" || $0 == ">" } ?? xml.endIndex
    let element = try Element(parsing: xml[..<start] + " xmlns='jabber:client'" + xml[start...])
    let stanza = try #require(try Stanza(element))
    var policy = OriginPolicy(own: try JID("bot@example.org/r"))
    policy.trustsAccountIDs = trustsIDs
    policy.rooms = [try JID("ops@chat.example")]
    switch policy.admit(stanza) {
    case .message(let message):
      let ids = message.stanzaIDs.map(\.id).joined(separator: " ")
      return "message from \(message.from?.description ?? "nobody")" + (ids.isEmpty ? "" : " with \(ids)")
    case .carbon: return "carbon"
    case .archived: return "archived"
    case .presence: return "presence"
    case .rosterPush: return "push"
    case .request: return "request"
    case .answer: return "answer"
    case .ignored: return "ignored"
    case .refused(let reason): return "refused: " + reason
    }
  }

  @Test(
    "who a stanza is for: nobody, our account or our resource, however it is written",
    arguments: ["", "to='bot@example.org'", "to='BOT@EXAMPLE.org/r'", "to='bot@example.org/other'"])
  func forUs(_ to: String) throws {
    #expect(try outcome("<message from='a@b.example/c' \(to)/>") == "message from a@b.example/c")
    #expect(try outcome("<presence from='a@b.example/c' \(to)/>") == "presence")
    #expect(try outcome("<iq type='get' id='1' from='a@b.example/c' \(to)><x xmlns='y'/></iq>") == "request")
  }

  @Test(
    "what is for anybody else is refused",
    arguments: ["example.org", "bot@example.org.evil.example", "b\u{43E}t@example.org"])
  func forOthers(_ to: String) throws {
    for xml in ["<message to='\(to)'/>", "<presence to='\(to)'/>", "<iq type='result' id='1' to='\(to)'/>"] {
      #expect(try outcome(xml).hasPrefix("refused: "))
    }
  }

  @Test("a message without a sender is the account's own (RFC 6120 section 8.1.2.1)")
  func noSender() throws {
    #expect(try outcome("<message/>") == "message from bot@example.org")
  }

  @Test("carbons, results and events that nobody asked for are refused, even in the account's name (CVE-2017-5589)")
  func wrappers() throws {
    for from in ["from='eve@evil.example'", "from='bot@example.org'", ""] {
      #expect(
        try outcome("<message \(from)><sent xmlns='urn:xmpp:carbons:2'/></message>").hasPrefix("refused: a carbon"))
      #expect(
        try outcome("<message \(from)><result xmlns='urn:xmpp:mam:2'/></message>").hasPrefix("refused: an archive"))
    }
    let event = "<event xmlns='http://jabber.org/protocol/pubsub#event'/>"
    #expect(try outcome("<message from='eve@evil.example'>\(event)</message>").hasPrefix("refused: an event"))
    #expect(try outcome("<message from='bot@example.org'>\(event)</message>") == "ignored")
    #expect(try outcome("<message from='bot@example.org/x'>\(event)</message>").hasPrefix("refused: an event"))
  }

  @Test("ids of messages count by whom they are, and only when the account vouches for them (XEP-0359 section 5)")
  func stanzaIDs() throws {
    let ids = """
      <stanza-id xmlns='urn:xmpp:sid:0' id='account' by='Bot@example.org'/>
      <stanza-id xmlns='urn:xmpp:sid:0' id='full' by='bot@example.org/r'/>
      <stanza-id xmlns='urn:xmpp:sid:0' id='sender' by='a@b.example'/>
      <stanza-id xmlns='urn:xmpp:sid:0' id='nobody' by=''/>
      """
    let chat = "<message from='a@b.example' type='chat'>\(ids)</message>"
    #expect(try outcome(chat) == "message from a@b.example")
    #expect(try outcome(chat, trustsIDs: true) == "message from a@b.example with account")
    let room = "<stanza-id xmlns='urn:xmpp:sid:0' id='room' by='ops@chat.example'/>"
    #expect(
      try outcome("<message from='ops@chat.example/a' type='groupchat'>\(ids)\(room)</message>", trustsIDs: true)
        == "message from ops@chat.example/a with room")
  }

  @Test("what is said in a room that was not asked for is not let in")
  func strangeRoom() throws {
    #expect(
      try outcome("<message from='trap@chat.example/a' type='groupchat'><body>x</body></message>")
        .hasPrefix("refused: a message of the room trap@chat.example"))
  }

  @Test("of two ids in the account's name the last is its own: Prosody 0.12 leaves the forged one in front of it")
  func forgedID() throws {
    let message = """
      <message from='alice@example.org/a' to='bot@example.org' id='a1' type='chat' xml:lang='en'><body>one</body>\
      <stanza-id id='forged' by='bot@example.org' xmlns='urn:xmpp:sid:0'/><request xmlns='urn:xmpp:receipts'/>\
      <stanza-id id='aKNf1EiOLeNvCF9M1-cO6ruK' by='bot@example.org' xmlns='urn:xmpp:sid:0'/></message>
      """
    #expect(try outcome(message, trustsIDs: true) == "message from alice@example.org/a with aKNf1EiOLeNvCF9M1-cO6ruK")
  }

  @Test(
    "a roster push is believed from the account, from ourselves and from nobody (CVE-2015-8688)",
    arguments: [
      ("", "push"), ("from='bot@example.org'", "push"), ("from='bot@example.org/r'", "push"),
      ("from='BOT@example.org'", "push"), ("from='bot@example.org/x'", "refused"), ("from='example.org'", "refused"),
      ("from='eve@evil.example'", "refused"),
    ])
  func rosterPush(_ from: String, _ expected: String) throws {
    let result = try outcome("<iq type='set' id='1' \(from)><query xmlns='jabber:iq:roster'/></iq>")
    #expect(result.hasPrefix(expected))
  }

  @Test("a roster that is asked of us is a request like any other")
  func rosterRequest() throws {
    #expect(
      try outcome("<iq type='get' id='1' from='e@evil.example'><query xmlns='jabber:iq:roster'/></iq>") == "request")
  }

  @Test("an answer with a roster in it is an answer: only the tracker knows whether it was asked for")
  func rosterAnswer() throws {
    #expect(
      try outcome("<iq type='result' id='1' from='e@evil.example'><query xmlns='jabber:iq:roster'/></iq>") == "answer")
  }

  @Test("our own presence is no news")
  func ownPresence() throws {
    for from in ["", "from='bot@example.org'", "from='bot@example.org/other'"] {
      #expect(try outcome("<presence type='subscribe' \(from)/>") == "ignored")
    }
  }
}
