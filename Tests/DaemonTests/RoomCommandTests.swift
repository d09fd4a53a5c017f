import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

@Suite("Commands in rooms (XEP-0045)")
struct RoomCommandTests {
  init() { LoopThread.start() }

  @Test("what begins with the prefix is answered to all, to the nickname, as a reply to the room's id of it")
  @LoopActor func prefix() async throws {
    let room = try await RoomBench.inside()
    try await room.say("alice", "!ping 1")
    try room.expectAnswer("alice: pong 1")
    try room.expectSilence()
    #expect(try await room.bench.transcript().suffix(2) == ["< !ping 1", "> alice: pong 1 (sent)"])
  }

  @Test("another prefix counts where the section has one")
  @LoopActor func otherPrefix() async throws {
    let room = try await RoomBench.inside(section: "prefix = .!")
    try await room.say("alice", "!ping", id: "1")
    try await room.say("alice", ".!ping", id: "2")
    try room.expectAnswer("alice: pong", to: "s2")
    try room.expectSilence()
  }

  @Test("what begins with the bot's nickname is answered, and the nickname is the one of now")
  @LoopActor func nick() async throws {
    let room = try await RoomBench.inside()
    try await room.say("alice", "bot, ping", id: "1")
    try room.expectAnswer("alice: pong", to: "s1")
    try room.bench.play(
      """
      server: <presence type='unavailable' from='\(RoomBench.room)/bot' to='bot@example.org/r'>
       <x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='none' role='participant' nick='robot'/>
       <status code='303'/><status code='110'/></x></presence>
      server: <presence from='\(RoomBench.room)/robot' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
       <item affiliation='none' role='participant'/><status code='110'/></x></presence>
      """)
    try await room.say("alice", "bot: ping", id: "2")
    try room.expectSilence()
    try await room.say("alice", "robot: ping", id: "3")
    try room.expectAnswer("alice: pong", to: "s3")
  }

  @Test("all else is archived and not answered; of what is unknown only what is said by the nickname is")
  @LoopActor func unknown() async throws {
    let room = try await RoomBench.inside()
    try await room.say("alice", "good morning", id: "1")
    try await room.say("alice", "!weather", id: "2")
    try room.expectSilence()
    try await room.say("alice", "bot: pign", id: "3")
    try room.expectAnswer("alice: I don't know “pign”. Did you mean ping? Send help for the list.", to: "s3")
    #expect(try await room.bench.transcript().contains("< good morning"))
  }

  @Test("what was said before the bot came is not run")
  @LoopActor func history() async throws {
    let room = try await RoomBench.inside()
    try await room.say(
      "alice", "!ping", more: "<delay xmlns='urn:xmpp:delay' from='\(RoomBench.room)' stamp='2001-09-09T01:46:39Z'/>")
    try room.expectSilence()
    #expect(try await room.bench.transcript().last == "< !ping")
  }

  @Test("the bot's own words come back from the room, and are not answered")
  @LoopActor func reflection() async throws {
    let room = try await RoomBench.inside()
    room.daemon.flow.outbox.send("!ping", to: try JID(RoomBench.room))
    await room.bench.settle()
    try room.expectAnswer("!ping", to: nil)
    try await room.say("bot", "!ping")
    try room.expectSilence()
  }

  @Test("a nickname that is an administrator's address gives no rights")
  @LoopActor func spoofed() async throws {
    let room = try await RoomBench.inside("[group admins]\nmember = alice@example.net\n", handlers: [Secret()])
    try room.enter("alice@example.net", id: "m2")
    try await room.say("alice@example.net", "!secret", id: "1")
    try room.expectAnswer(
      "→ alice@example.net: secret: not allowed. Ask an administrator of this bot if you need it; help lists what you may use.",
      to: "s1")
  }

  @Test("an address that the room shows gives the rights of its owner, whatever the nickname")
  @LoopActor func address() async throws {
    let room = try await RoomBench.inside("[group admins]\nmember = alice@example.net\n", handlers: [Secret()])
    try await room.say("alice", "!secret")
    #expect(await room.bench.hears("alice: the secret"))
  }

  @Test("an affiliation gives the rights of who has it")
  @LoopActor func affiliation() async throws {
    let room = try await RoomBench.inside(handlers: [Members()])
    try await room.say("mallory", "!members", id: "1")
    #expect(await room.bench.hears("mallory: members: not allowed."))
    room.bench.conversation.skip()
    try await room.say("alice", "!members", id: "2")
    #expect(await room.bench.hears("alice: in"))
  }

  @Test("a room that is over its limit is told so once")
  @LoopActor func limit() async throws {
    let room = try await RoomBench.inside("[limits]\nroom-rate = 1/10s\n")
    try await room.say("alice", "!ping", id: "1")
    try room.expectAnswer("alice: pong", to: "s1")
    try await room.say("mallory", "!ping", id: "2")
    try room.expectAnswer(
      "mallory: Slow down: that is too many commands for one room. I will not answer here until there is a pause.",
      to: "s2")
    try await room.say("alice", "!ping", id: "3")
    try room.expectSilence()
  }

  @Test("a room that gives no ids gets answers without a reference")
  @LoopActor func noIDs() async throws {
    let room = try await RoomBench.inside(vouches: false)
    try await room.say("alice", "!ping")
    try room.expectAnswer("alice: pong", to: nil)
  }

  @Test("a private message needs no prefix, and is answered privately, without receipts")
  @LoopActor func privately() async throws {
    let room = try await RoomBench.inside()
    try await room.say(
      "alice", "whoami", type: "chat",
      more: "<x xmlns='http://jabber.org/protocol/muc#user'/><request xmlns='urn:xmpp:receipts'/>")
    try room.bench.play(
      """
      bot: <message type='chat' to='\(RoomBench.room)/alice' id='$p-'>
       <body>Through a room you are nobody but alice, affiliation member, role participant. Write to me directly, and I know you.</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$p-'/><x xmlns='http://jabber.org/protocol/muc#user'/></message>
      """)
    try room.expectSilence()
  }

  @Test("a private message gives nobody the rights of an address, not even of one that the room shows")
  @LoopActor func privatelyNobody() async throws {
    let room = try await RoomBench.inside(
      "[group admins]\nmember = *@rooms.example.org\nmember = alice@example.net\n", handlers: [Secret()])
    try await room.say("alice", "secret", type: "chat")
    #expect(await room.bench.hears("secret: not allowed."))
  }

  @Test("a private message that comes late is not run: its nickname may be another's by now")
  @LoopActor func privatelyLate() async throws {
    let room = try await RoomBench.inside()
    try await room.say(
      "alice", "ping", type: "chat", more: "<delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:46:39Z'/>")
    try room.expectSilence()
  }

  @Test("an answer that takes its time goes to who asked, under whatever nickname, and never to who took theirs")
  @LoopActor func privatelyRenamed() async throws {
    let slow = Slow()
    let room = try await RoomBench.inside(handlers: [slow])
    try await room.say("mallory", "slow", type: "chat", more: "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='m1'/>")
    try room.leave("mallory", renamedTo: "mal")
    try room.enter("mal", id: "m1")
    try room.enter("mallory", id: "other")
    slow.finish()
    #expect(await room.bench.hears("to='\(RoomBench.room)/mal'"))
    #expect(await room.bench.hears("<body>at last</body>"))
  }

  @Test("what was running when the process ended is told to the room, and does not run again")
  @LoopActor func interrupted() async throws {
    let bench = try await DaemonBench("[room \(RoomBench.room)]\nnick = bot\n") { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      var row = NewMessage(.in, .groupchat, peer: RoomBench.room, time: 999_999_999_000_000, body: "!deploy")
      row.room = RoomBench.room
      row.nick = "alice"
      row.stanzaID = .init(id: "s9", by: RoomBench.room)
      guard case .inserted(let id) = try transaction.insert(row) else { return }
      try transaction.openCommand("deploy", message: id, at: row.time)
    }
    await bench.settle()
    let last = try await bench.transcript().last
    #expect(
      last
        == "> alice: deploy: interrupted, I was restarted while it ran. It may have been done in part; send it again if you still want it. (queued)"
    )
  }

  @Test("in a chat search finds what was said in the rooms in which one is, and nothing for who is not there")
  @LoopActor func search() async throws {
    let room = try await RoomBench.inside()
    // The bench's clock stands still, and a search is of what was before it.
    room.daemon.gate.write { transaction throws(DatabaseError) in
      var row = NewMessage(
        .in, .groupchat, peer: RoomBench.room, time: 999_999_999_000_000, body: "the key is red")
      row.room = RoomBench.room
      row.nick = "mallory"
      try transaction.insert(row)
    }
    await room.bench.settle()
    func search(from: String) throws {
      try room.bench.play(
        "server: <message from='\(from)' to='bot@example.org/r' type='chat' id='q'><body>search key</body></message>")
    }
    try search(from: "alice@example.net/phone")
    #expect(await room.bench.hears(" mallory in \(RoomBench.room): the key is red<"))
    room.bench.conversation.skip()
    try search(from: "eve@example.net/phone")
    #expect(await room.bench.hears(">Nothing found."))
  }

  @Test("a long answer of the bot's own is cut off, with where to have the whole")
  @LoopActor func long() async throws {
    let room = try await RoomBench.inside()
    try await room.say("alice", "!ping " + String(repeating: "x", count: 20_000))
    let bodies = try await room.bench.transcript().suffix(3)
    #expect(bodies.first?.hasPrefix("> alice: pong xxx") == true)
    #expect(bodies.last?.hasSuffix("xxx\n(cut off: use ping in a chat with me for all of it) (sent)") == true)
  }

  private struct Members: CommandHandler {
    let description = CommandDescription(name: "members", allow: [.affiliation(.member)], places: .room)
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "in" }
  }

  private struct Secret: CommandHandler {
    let description = CommandDescription(name: "secret", places: [.chat, .room])
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "the secret" }
  }

  /// Ends when it is told to.
  private struct Slow: CommandHandler {
    let description = CommandDescription(name: "slow", allow: [.everyone], places: [.chat, .room])
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    init() { (stream, continuation) = AsyncStream.makeStream() }
    func finish() { continuation.finish() }
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
      for await _ in stream {}
      return "at last"
    }
  }
}
