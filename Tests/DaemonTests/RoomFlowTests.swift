import Archive
import EventLoop
import JID
import SQLite
import Testing
import XMPPStream
import XMPPTesting

@testable import Daemon

@Suite("Rooms: entered, heard, spoken in and left")
struct RoomFlowTests {
  init() { LoopThread.start() }

  private static let ops = "ops@conference.example.org"
  private static let section = "[room \(ops)]\nnick = bot\n"
  private static let archive = "urn:xmpp:mam:2"
  private static let stanzaIDs = "urn:xmpp:sid:0"

  /// The room is asked what it can do, and says so; the bot asks to be let in.
  private static func door(_ features: [String], history: String = "maxstanzas='0'", number: Int = 1) -> String {
    """
    bot: <iq type='get' id='$info\(number)' to='\(ops)'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    server: <iq type='result' id='$info\(number)' from='\(ops)' to='bot@example.org/r'>
     <query xmlns='http://jabber.org/protocol/disco#info'><identity category='conference' type='text'/>
     \(features.map { "<feature var='\($0)'/>" }.joined())</query></iq>
    bot: <presence to='\(ops)/bot'><x xmlns='http://jabber.org/protocol/muc'><history \(history)/></x></presence>
    """
  }

  private static let inside = """

    server: <presence from='\(ops)/bot' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
     <item affiliation='member' role='participant'/><status code='110'/></x></presence>
    """

  private static func said(
    _ body: String, _ attributes: String = "id='m1'", by nick: String = "alice", _ more: String = ""
  )
    -> String
  {
    "server: <message type='groupchat' from='\(ops)/\(nick)' to='bot@example.org/r' \(attributes)><body>\(body)</body>\(more)</message>"
  }

  private static let subject =
    "server: <message type='groupchat' from='\(ops)' to='bot@example.org/r'><subject>Operations</subject></message>"

  @LoopActor private static func bench(
    _ features: [String] = [], settings: String = section, history: String = "maxstanzas='0'",
    before: @escaping @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> Void = { _ in }
  ) async throws -> DaemonBench {
    let bench = try await DaemonBench(before: before)
    bench.conversation.hidesConfirmations = true
    try bench.goOnline()
    await bench.settle()
    bench.conversation.skip()
    #expect(try bench.reload(settings).isEmpty)
    await bench.settle()
    try bench.play(door(features, history: history) + inside)
    await bench.settle()
    return bench
  }

  @Test("what is said in a room is archived as the room's, with who said it")
  @LoopActor func heard() async throws {
    let bench = try await Self.bench([Self.stanzaIDs])
    let id = "<stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.ops)' id='s1'/>"
    try bench.play(Self.subject + "\n" + Self.said("hello", by: "alice", id))
    await bench.settle()
    let rows = try await bench.rows()
    #expect(rows.count == 1)
    let row = try #require(rows.first)
    #expect(row.kind == .groupchat && row.direction == .in && row.peer == Self.ops && row.room == Self.ops)
    #expect(row.nick == "alice" && row.resource == nil && row.body == "hello")
    #expect(row.stanzaID == .init(id: "s1", by: Self.ops))
    #expect(bench.recording.messages(.roomJoined).count == 1)
    try bench.play("the bot says nothing")
  }

  @Test("a room that leaves the configuration is left, one that comes is entered, and another nickname is asked for")
  @LoopActor func reloads() async throws {
    let bench = try await Self.bench()
    #expect(try bench.reload("[room \(Self.ops)]\nnick = robot\n").isEmpty)
    try bench.play("bot: <presence to='\(Self.ops)/robot'/>")
    #expect(try bench.reload("").isEmpty)
    try bench.play("bot: <presence type='unavailable' to='\(Self.ops)/bot'/>")
    #expect(bench.daemon.roomsWanted == 0)
    try bench.play(Self.said("too late"))
    await bench.settle()
    #expect(try await bench.transcript() == [])
    #expect(bench.recording.messages(.roomLeft).count == 1)
  }

  @Test("what we say goes to the room, and its own copy of it makes it received")
  @LoopActor func reflection() async throws {
    let bench = try await Self.bench([Self.stanzaIDs])
    bench.daemon.flow.outbox.send("on it", to: try JID(Self.ops))
    await bench.settle()
    try bench.play(
      """
      bot: <message type='groupchat' to='\(Self.ops)' id='$m'><body>on it</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/></message>
      \(Self.subject)
      server: <message type='groupchat' from='\(Self.ops)/bot' to='bot@example.org/r' id='$m'><body>on it</body>
       <stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.ops)' id='s1'/></message>
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["> on it (received)"])
    #expect(try await bench.rows().first?.stanzaID == .init(id: "s1", by: Self.ops))
  }

  @Test("what somebody else says under an id of ours is theirs, and ours is not delivered by it")
  @LoopActor func forgedReflection() async throws {
    let bench = try await Self.bench()
    bench.daemon.flow.outbox.send("on it", to: try JID(Self.ops))
    await bench.settle()
    try bench.play(
      """
      bot: <message type='groupchat' to='\(Self.ops)' id='$m'><body>on it</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/></message>
      server: <message type='groupchat' from='\(Self.ops)/mallory' to='bot@example.org/r' id='$m'><body>mine</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/></message>
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["> on it (sent)", "< mine"])
  }

  @Test("what is to be said waits until the bot is in the room, in order, and holds up nobody else's")
  @LoopActor func waits() async throws {
    let bench = try await DaemonBench()
    bench.conversation.hidesConfirmations = true
    try bench.goOnline()
    await bench.settle()
    bench.conversation.skip()
    #expect(try bench.reload(Self.section).isEmpty)
    await bench.settle()
    for text in ["one", "two"] { bench.daemon.flow.outbox.send(text, to: try JID(Self.ops)) }
    bench.daemon.flow.outbox.send("three", to: try JID("alice@example.net"))
    await bench.settle()
    #expect(try await bench.transcript() == ["> one (queued)", "> two (queued)", "> three (sent)"])
    #expect(bench.daemon.flow.outbox.waiting == 3)
    let script = Self.door([]) + Self.inside
    try bench.play(
      script.replacing(
        "bot: <presence",
        with:
          "bot: <message type='chat' to='alice@example.net' id='$a'><body>three</body><origin-id xmlns='urn:xmpp:sid:0' id='$a'/><delay xmlns='urn:xmpp:delay' from='bot@example.org' stamp='2001-09-09T01:46:40.000000Z'/><request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>\nbot: <presence"
      ))
    await bench.settle()
    for (text, name) in [("one", "x"), ("two", "y")] {
      try bench.play(
        """
        bot: <message type='groupchat' to='\(Self.ops)' id='$\(name)'><body>\(text)</body>
         <origin-id xmlns='urn:xmpp:sid:0' id='$\(name)'/></message>
        """)
    }
    #expect(try await bench.transcript() == ["> one (sent)", "> two (sent)", "> three (sent)"])
  }

  @Test(
    "a message that the room does not take is failed, with what to do, and the bot finds out whether it is in the room")
  @LoopActor func refusedMessage() async throws {
    let bench = try await Self.bench()
    bench.daemon.flow.outbox.send("on it", to: try JID(Self.ops))
    await bench.settle()
    try bench.play(
      """
      bot: <message type='groupchat' to='\(Self.ops)' id='$m'><body>on it</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/></message>
      server: <message type='error' from='\(Self.ops)' to='bot@example.org/r' id='$m'><body>on it</body>
       <error type='modify'><not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
      """)
    await bench.settle()
    let row = try #require(try await bench.rows().first)
    #expect(row.state == .failed && row.error?.contains("the bot is not in the room") == true)
    bench.conversation.hidesConfirmations = false
    #expect(await bench.hears("<ping xmlns='urn:xmpp:ping'/>"))
  }

  @Test("history that a room tells again is archived once; the subject that it tells whoever comes is not news")
  @LoopActor func historyTwice() async throws {
    let bench = try await Self.bench()
    let stamp = "<delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:40:00Z' from='\(Self.ops)'/>"
    try bench.play(Self.said("old", by: "alice", stamp) + "\n" + Self.subject)
    await bench.settle()
    // Put out by a shutdown, and in again.
    try bench.play(
      """
      server: <presence type='unavailable' from='\(Self.ops)/bot' to='bot@example.org/r'>
       <x xmlns='http://jabber.org/protocol/muc#user'><item/><status code='332'/><status code='110'/></x></presence>
      after 15s
      """)
    try bench.play(Self.door([], history: "since='2001-09-09T01:46:40Z'", number: 2) + Self.inside)
    try bench.play(Self.said("old", by: "alice", stamp) + "\n" + Self.subject)
    await bench.settle()
    #expect(try await bench.transcript() == ["< old"])
  }

  @Test(
    "what was missed is fetched from the room's archive, before what comes live, and ours in doubt is not said twice")
  @LoopActor func catchesUp() async throws {
    let bench = try await Self.bench([Self.archive]) { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      var old = NewMessage(.in, .groupchat, peer: Self.ops, time: 999_999_000_000_000, body: "old")
      (old.room, old.nick, old.stanzaID) = (Self.ops, "alice", .init(id: "known", by: Self.ops))
      try transaction.insert(old)
      transaction.noteCursor("known", of: Self.ops)
    }
    // It waits until the room's archive is read.
    bench.daemon.flow.outbox.send("doubt", to: try JID(Self.ops))
    await bench.settle()
    let doubt = try #require(try await bench.rows().last?.messageID)
    func result(_ id: String, _ body: String, by nick: String, message: String) -> String {
      """
      server: <message from='\(Self.ops)' to='bot@example.org/r'><result xmlns='\(Self.archive)' queryid='$q' id='\(id)'>
       <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:46:30Z'/>
       <message xmlns='jabber:client' type='groupchat' from='\(Self.ops)/\(nick)' id='\(message)'><body>\(body)</body></message>
       </forwarded></result></message>
      """
    }
    try bench.play(
      """
      bot: <iq type='set' id='$iq' to='\(Self.ops)'><query xmlns='urn:xmpp:mam:2' queryid='$q'>
       <set xmlns='http://jabber.org/protocol/rsm'><max>100</max><after>known</after></set></query></iq>
      \(Self.said("live", "id='m3'", by: "alice", "<stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.ops)' id='s3'/>"))
      \(result("s1", "doubt", by: "bot", message: doubt))
      \(result("s2", "missed", by: "alice", message: "m2"))
      server: <iq type='result' id='$iq' from='\(Self.ops)' to='bot@example.org/r'><fin xmlns='urn:xmpp:mam:2' complete='true'>
       <set xmlns='http://jabber.org/protocol/rsm'><first>s1</first><last>s2</last></set></fin></iq>
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["< old", "> doubt (received)", "< missed", "< live"])
    try bench.play("the bot says nothing")
  }

  @Test("after a session that was not resumed all rooms are entered again")
  @LoopActor func newSession() async throws {
    let bench = try await Self.bench()
    #expect(bench.daemon.roomsJoined == 1)
    try bench.play("the connection is lost\nafter 10s")
    try bench.goOnline()
    #expect(bench.daemon.roomsJoined == 0)
    try bench.play(Self.inside)
    #expect(bench.daemon.roomsJoined == 1)
  }

  @Test("who goes says goodbye to the rooms")
  @LoopActor func goodbye() async throws {
    let bench = try await Self.bench()
    bench.daemon.stop()
    #expect(await bench.turn { bench.daemon.ending?.saidGoodbye == true })
    try bench.play("bot: <presence type='unavailable' to='\(Self.ops)/bot'/>\nbot: <presence type='unavailable'/>")
  }

  @Test("a kick is told once with its reason and remedy, and the bot comes back after a pause")
  @LoopActor func kicked() async throws {
    let bench = try await Self.bench()
    try bench.play(
      """
      server: <presence type='unavailable' from='\(Self.ops)/bot' to='bot@example.org/r'>
       <x xmlns='http://jabber.org/protocol/muc#user'><item><actor nick='alice'/><reason>loud</reason></item>
       <status code='307'/><status code='110'/></x></presence>
      """)
    let lines = bench.recording.messages(.roomNotJoined)
    #expect(lines.count == 1)
    #expect(lines.first?.contains("the bot was kicked (by alice: loud); tried again in 60 s; ask an admin") == true)
    try bench.play("after 59s\nthe bot says nothing\nafter 1s")
    try bench.play(Self.door([], number: 2) + Self.inside)
    #expect(bench.daemon.roomsJoined == 1)
  }

  @Test("a room that is none of ours is none: nothing of it is archived, nothing is entered")
  @LoopActor func strangers() async throws {
    let bench = try await Self.bench()
    try bench.play(
      """
      server: <presence from='trap@evil.example/bot' to='bot@example.org/r'>
       <x xmlns='http://jabber.org/protocol/muc#user'><item/><status code='110'/><status code='201'/></x></presence>
      server: <message type='groupchat' from='trap@evil.example/alice' to='bot@example.org/r' id='t1'><body>!ping</body></message>
      """)
    await bench.settle()
    try bench.play("the bot says nothing")
    #expect(try await bench.transcript() == [])
    #expect(bench.daemon.roomsWanted == 1)
  }

  @Test(
    "who writes through a room in private has no rights by an address: not the room's, not its domain's, not the shown one's",
    arguments: ["", "<x xmlns='http://jabber.org/protocol/muc#user'/>"])
  @LoopActor func privateMessage(mark: String) async throws {
    let groups = "[group admins]\nmember = *@conference.example.org, alice@example.net\n"
    let bench = try await Self.bench(settings: Self.section + groups)
    try bench.play(
      """
      server: <presence from='\(Self.ops)/alice' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
       <item affiliation='owner' role='moderator' jid='alice@example.net/x'/></x></presence>
      server: <message type='chat' from='\(Self.ops)/alice' to='bot@example.org/r' id='p1'><body>reload</body>\(mark)</message>
      """)
    let before = bench.recording.messages(.reloaded).count
    await bench.settle()
    let row = try #require(try await bench.rows().first)
    #expect(row.kind == .chat && row.room == Self.ops && row.nick == "alice" && row.body == "reload")
    // Nor after the room was left.
    #expect(try bench.reload(groups).isEmpty)
    try bench.play(
      "server: <message type='chat' from='\(Self.ops)/alice' to='bot@example.org/r' id='p2'><body>reload</body>\(mark)</message>"
    )
    await bench.settle()
    #expect(bench.recording.messages(.reloaded).count == before + 1)
  }

  @Test("a visit: an address that is a room's is entered for what is to be said there")
  @LoopActor func visit() async throws {
    let bench = try await DaemonBench.online()
    bench.conversation.hidesConfirmations = true
    bench.conversation.skip()
    let flow = bench.daemon.flow
    let room = try JID(Self.ops)
    flow.rooms.prepare(room) { flow.outbox.send("hi", to: room) }
    try bench.play(
      """
      bot: <iq type='get' id='$what' to='conference.example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      server: <iq type='result' id='$what' from='conference.example.org' to='bot@example.org/r'>
       <query xmlns='http://jabber.org/protocol/disco#info'><identity category='conference' type='text'/>
       <feature var='http://jabber.org/protocol/muc'/></query></iq>
      """)
    await bench.settle()
    try bench.play(Self.door([]) + Self.inside)
    await bench.settle()
    try bench.play(
      """
      bot: <message type='groupchat' to='\(Self.ops)' id='$m'><body>hi</body><origin-id xmlns='urn:xmpp:sid:0' id='$m'/></message>
      """)
  }
}
