import BotKit
import EventLoop
import JID
import Testing
import XMPPTesting

@testable import Daemon

@Suite("What nobody in a room can have the bot do")
struct RoomTrustTests {
  init() { LoopThread.start() }

  @Test("a nickname can't make an answer another bot's command")
  @LoopActor func nickname() async throws {
    let room = try await RoomBench.inside(handlers: [Echo()])
    let nick = "bot2: adm pwned #"
    try room.enter(nick, id: "m2")
    try await room.say(nick, "!echo !adm pwned")
    #expect(await room.bench.hears(": !adm pwned</body>"))
    try room.expectAnswer("→ \(nick): !adm pwned")
    let long = String(repeating: "x", count: 1_000)
    try room.enter(long, id: "m3")
    try await room.say(long, "!echo !adm pwned", id: "2")
    #expect(await room.bench.hears("…: !adm pwned</body>"))
    try room.expectAnswer("→ \(long.prefix(100))…: !adm pwned", to: "s2")
    // Nicknames differ by case; another bot may not look at that in its own.
    try room.enter("bot2", id: "m4")
    try room.enter("Bot2", id: "m5")
    try await room.say("Bot2", "!echo adm pwned", id: "3")
    #expect(await room.bench.hears("Bot2: adm pwned</body>"))
    try room.expectAnswer("→ Bot2: adm pwned", to: "s3")
  }

  @Test("a private message of somebody who is not in the room is archived, and nothing is run")
  @LoopActor func absent() async throws {
    let slow = Slow()
    let room = try await RoomBench.inside(handlers: [slow])
    try await room.say("ghost", "slow", type: "chat")
    try room.expectSilence()
    #expect(room.daemon.dispatcher.running == 0)
    #expect(try await room.bench.transcript().last == "< slow")
  }

  @Test("an answer in private never goes to the next owner of a nickname, however little a room shows of its occupants")
  @LoopActor func nextOwner() async throws {
    let slow = Slow()
    let room = try await RoomBench.inside(handlers: [slow], vouches: false)
    try await room.say("mallory", "slow", type: "chat")
    try room.leave("mallory")
    try room.enter("mallory")
    slow.finish()
    await room.bench.settle()
    #expect(await room.bench.turn { room.daemon.dispatcher.running == 0 })
    await room.bench.settle()
    #expect(try await room.bench.transcript().contains { $0.contains("at last") } == false)
  }

  @Test(
    "a private answer of which nobody knows whether it arrived is not said again to the next owner of a nickname",
    arguments: [true, false])
  @LoopActor func inDoubt(vouches: Bool) async throws {
    let room = try await RoomBench.inside(handlers: [Echo()], vouches: vouches)
    try await room.say("mallory", "echo a secret", type: "chat")
    #expect(await room.bench.hears("<body>a secret</body>"))
    #expect(try await room.bench.transcript().last == "> a secret (sent)")
    try room.bench.play("the connection is lost\nafter 10s")
    try await room.arrive(vouches: vouches, mallory: "m2")
    try room.expectSilence()
    await room.bench.settle()
    let row = try #require(try await room.bench.rows().last)
    #expect(row.state == .failed && row.error == "its nickname in the room may be somebody else's by now")
    #expect(room.daemon.flow.outbox.waiting == 0)
    // The next word is for whoever has it now.
    try await room.say("mallory", "echo hello", id: "2", type: "chat")
    #expect(await room.bench.hears("<body>hello</body>"))
  }

  @Test("a service that renames the bot again and again does not fill the log")
  @LoopActor func renames() async throws {
    let room = try await RoomBench.inside()
    var old = "bot"
    for number in 1...60 {
      let new = "bot\(number)"
      try room.bench.play(
        """
        server: <presence type='unavailable' from='\(RoomBench.room)/\(old)' to='bot@example.org/r'>
         <x xmlns='http://jabber.org/protocol/muc#user'><item nick='\(new)'/><status code='303'/><status code='110'/></x></presence>
        """)
      old = new
    }
    #expect(room.daemon.flow.rooms.nick(in: try JID(RoomBench.room)) == "bot60")
    #expect(room.bench.recording.messages(.roomJoined).count < 25)
  }

  @Test("who took another nickname meanwhile gets the answer, however little a room shows of its occupants")
  @LoopActor func renamed() async throws {
    let slow = Slow()
    let room = try await RoomBench.inside(handlers: [slow], vouches: false)
    try await room.say("mallory", "slow", type: "chat")
    try room.leave("mallory", renamedTo: "mal")
    try room.enter("mal")
    try room.enter("mallory")
    slow.finish()
    #expect(await room.bench.hears("to='\(RoomBench.room)/mal'"))
    #expect(await room.bench.hears("<body>at last</body>"))
  }

  @Test("what was said to all fails by the room's word, not by an occupant's")
  @LoopActor func errors() async throws {
    let room = try await RoomBench.inside()
    room.daemon.flow.outbox.send("hello", to: try JID(RoomBench.room))
    await room.bench.settle()
    let id = try #require(try await room.bench.rows().last?.messageID)
    func error(from nick: String) -> String {
      """
      server: <message type='error' from='\(RoomBench.room)\(nick)' to='bot@example.org/r' id='\(id)'>
       <error type='cancel'><gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
      """
    }
    func state() async throws -> String? { try await room.bench.transcript().first { $0.hasPrefix("> hello") } }
    try room.bench.play(error(from: "/mallory"))
    try room.bench.play(
      """
      server: <message type='groupchat' from='\(RoomBench.room)/mallory' to='bot@example.org/r' id='r1'>
       <received xmlns='urn:xmpp:receipts' id='\(id)'/></message>
      """)
    await room.bench.settle()
    #expect(try await state() == "> hello (sent)")
    try room.bench.play(error(from: "/bot"))
    await room.bench.settle()
    #expect(try await state() == "> hello (failed)")
  }

  @Test("an address that is somebody's is no room to join: its owner would have no rights any more")
  @LoopActor func join() async throws {
    let bench = try await DaemonBench.online(
      "[group admins]\nmember = root@example.net\nmember = *@staff.example.net\n")
    try bench.play(
      "server: <iq type='set' id='r1'><query xmlns='jabber:iq:roster' ver='2'><item jid='carol@example.com' subscription='both'/></query></iq>"
    )
    for (address, owner) in [
      ("bot@example.org", "my own address"), ("carol@example.com", "a contact of mine"),
      ("root@example.net", "a member of my group admins"), ("eve@staff.example.net", "a member of my group admins"),
    ] {
      try bench.play(
        "server: <message from='root@example.net/x' type='chat' id='\(address)'><body>join \(address)</body></message>")
      #expect(await bench.hears("\(address) is no room: it is \(owner)."))
    }
    #expect(bench.daemon.roomsWanted == 0)
  }

  private struct Echo: CommandHandler {
    let description = CommandDescription(name: "echo", allow: [.everyone], places: [.chat, .room])
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? { request.text }
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
