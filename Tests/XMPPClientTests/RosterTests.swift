import EventLoop
import JID
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("The roster and who sees us")
struct RosterTests {
  init() { LoopThread.start() }

  private func roster(_ items: [(String, RosterItem.Subscription, String)]) throws -> Roster {
    Roster(
      items: try items.map { RosterItem(jid: try JID($0.0), subscription: $0.1, groups: [$0.2]) }, version: "v1")
  }

  @Test("a contact that takes the bot out of its roster is taken out of the bot's")
  @LoopActor func left() throws {
    let conversation = try Conversation.online(roster: roster([("alice@example.org", .both, "Bot users")]))
    try conversation.play(
      """
      server: <presence type='unsubscribe' from='alice@example.org'/>
      bot: <iq type='set' id='$remove'><query xmlns='jabber:iq:roster'>
       <item jid='alice@example.org' subscription='remove'/></query></iq>
      server: <presence type='unsubscribed' from='alice@example.org'/>
      server: <iq type='set' id='p'><query xmlns='jabber:iq:roster' ver='v2'>
       <item jid='alice@example.org' subscription='remove'/></query></iq>
      bot: <iq type='result' id='p'/>
      event: roster v2:
      server: <iq type='result' id='$remove'/>
      the bot says nothing
      """)
    #expect(conversation.session.roster.items.isEmpty)
  }

  @Test("a contact that only hides its own presence stays one")
  @LoopActor func hides() throws {
    let conversation = try Conversation.online(roster: roster([("alice@example.org", .both, "Bot users")]))
    try conversation.play("server: <presence type='unsubscribed' from='alice@example.org'/>\nthe bot says nothing")
  }

  @Test("a request of ours that is turned down leaves no entry, unless the contact sees us")
  @LoopActor func denied() throws {
    let conversation = try Conversation.online(
      roster: roster([("alice@example.org", .none, "Bot users"), ("bob@example.org", .from, "Bot users")]))
    try conversation.play(
      """
      server: <presence type='unsubscribed' from='bob@example.org'/>
      the bot says nothing
      server: <presence type='unsubscribed' from='alice@example.org'/>
      bot: <iq type='set' id='$remove'><query xmlns='jabber:iq:roster'>
       <item jid='alice@example.org' subscription='remove'/></query></iq>
      """)
  }

  @Test("entries that the operator made elsewhere, and strangers, are left alone")
  @LoopActor func leftAlone() throws {
    let conversation = try Conversation.online(roster: roster([("alice@example.org", .both, "Friends")]))
    try conversation.play(
      """
      server: <presence type='unsubscribe' from='alice@example.org'/>
      server: <presence type='unsubscribed' from='alice@example.org'/>
      server: <presence type='unsubscribe' from='eve@evil.example'/>
      server: <presence type='unsubscribed' from='eve@evil.example'/>
      the bot says nothing
      """)
  }

  @Test("who left while the bot was offline is taken out at the next login")
  @LoopActor func sweep() throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <iq type='result' id='$roster'><query xmlns='jabber:iq:roster' ver='v5'>
       <item jid='alice@example.org' subscription='both'><group>Bot users</group></item>
       <item jid='bob@example.org' subscription='to'><group>Bot users</group></item>
       <item jid='carol@example.org' subscription='to'><group>Friends</group></item></query></iq>
      bot: <iq type='set' id='$remove'><query xmlns='jabber:iq:roster'>
       <item jid='bob@example.org' subscription='remove'/></query></iq>
      the bot says nothing
      """)
  }

  @Test("the server says that the remembered roster is still right; then it stays")
  @LoopActor func versioned() throws {
    let conversation = try Conversation.online(roster: roster([("alice@example.org", .both, "Bot users")]))
    try conversation.play("server: <iq type='result' id='$roster'/>\nthe bot says nothing")
    #expect(conversation.session.roster.version == "v1")
    #expect(conversation.session.roster.isContact(try JID("alice@example.org/phone")))
  }

  @Test(
    "a push with no item, with two, or of a malformed one is refused and changes nothing, its version neither",
    arguments: [
      "", "<item jid='a@b.example'/><item jid='c@b.example'/>", "<item jid='@@'/>", "<item/>", "<x jid='a@b.c'/>",
    ])
  @LoopActor func badPush(_ items: String) throws {
    let conversation = try Conversation.online(roster: roster([("alice@example.org", .both, "Bot users")]))
    try conversation.play(
      """
      server: <iq type='set' id='p' from='bot@example.org'><query xmlns='jabber:iq:roster' ver='v9'>\(items)</query></iq>
      bot: <iq type='error' id='p' to='bot@example.org'><error type='modify'>
       <bad-request xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      """)
    #expect(conversation.session.roster.version == "v1")
    #expect(conversation.session.roster.items.count == 1)
  }

  @Test(
    "a push counts whose sender is ourselves, however it is written, and no other's",
    arguments: [
      ("bot@example.org", true), ("BOT@Example.ORG", true), ("bot@example.org/r", true), ("example.org", false),
      ("bot@example.org/other", false), ("bot@evil.example", false), ("b\u{43E}t@example.org", false),
    ])
  @LoopActor func pushSender(_ sender: String, isTaken: Bool) throws {
    let conversation = try Conversation.online()
    try conversation.play(
      """
      server: <iq type='set' id='p' from='\(sender)'><query xmlns='jabber:iq:roster'><item jid='eve@evil.example'
       subscription='both'/></query></iq>
      """)
    #expect(conversation.session.roster.items.isEmpty != isTaken)
  }

  @Test("a nickname that is too long for a name is left out; one that is not goes into the roster")
  @LoopActor func nicknames() throws {
    try Conversation.online().play(
      """
      server: <presence type='subscribe' from='a@example.org'><nick xmlns='http://jabber.org/protocol/nick'>Al</nick></presence>
      bot: <presence type='subscribed' to='a@example.org'/>
      bot: <iq type='set' id='$any'><query xmlns='jabber:iq:roster'><item jid='a@example.org' name='Al'>
       <group>Bot users</group></item></query></iq>
      bot: <presence type='subscribe' to='a@example.org'/>
      server: <presence type='subscribe' from='b@example.org'><nick xmlns='http://jabber.org/protocol/nick'>\(
        String(repeating: "x", count: 300))</nick></presence>
      bot: <presence type='subscribed' to='b@example.org'/>
      bot: <iq type='set' id='$any'><query xmlns='jabber:iq:roster'><item jid='b@example.org'>
       <group>Bot users</group></item></query></iq>
      bot: <presence type='subscribe' to='b@example.org'/>
      """)
  }

  @Test("a contact in the group already is not entered again, nor asked again")
  @LoopActor func knownContact() throws {
    try Conversation.online(roster: roster([("alice@example.org", .both, "Bot users")])).play(
      """
      server: <presence type='subscribe' from='alice@example.org/phone'/>
      bot: <presence type='subscribed' to='alice@example.org'/>
      the bot says nothing
      """)
  }

  @Test("of a flood of requests a hundred are acted upon, then ten a second; it is told once")
  @LoopActor func flood() throws {
    let conversation = try Conversation.online()
    for number in 0..<1_000 {
      conversation.dialer.stream?.deliver("<presence type='subscribe' from='u\(number)@evil.example'/>")
    }
    let accepted = conversation.events.count { $0.hasPrefix("accepted") }
    #expect(accepted == 100)
    #expect(conversation.events.count { $0.hasPrefix("refused: too many subscription requests") } == 1)
    try conversation.play("after 1s")
    for number in 0..<100 {
      conversation.dialer.stream?.deliver("<presence type='subscribe' from='v\(number)@evil.example'/>")
    }
    #expect(conversation.events.count { $0.hasPrefix("accepted") } == 110)
    #expect(conversation.events.count { $0.hasPrefix("refused: too many subscription requests") } == 1)
  }
}
