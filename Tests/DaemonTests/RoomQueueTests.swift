import Archive
import EventLoop
import JID
import SQLite
import Testing
import XMPPStream
import XMPPTesting

@testable import Daemon

@Suite("Rooms: what waits for them")
struct RoomQueueTests {
  init() { LoopThread.start() }

  private static let ops = "ops@conference.example.org"
  private static let section = "[room \(ops)]\nnick = bot\n"
  private static let subject =
    "server: <message type='groupchat' from='\(ops)' to='bot@example.org/r'><subject>Operations</subject></message>"

  /// The room has no archive, asks for nothing and lets the bot in under `nick`.
  private static func entry(history: String = "maxstanzas='0'", nick: String = "bot", name: String = "i") -> String {
    """
    bot: <iq type='get' id='$\(name)' to='\(ops)'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    server: <iq type='result' id='$\(name)' from='\(ops)' to='bot@example.org/r'>
     <query xmlns='http://jabber.org/protocol/disco#info'><identity category='conference' type='text'/></query></iq>
    bot: <presence to='\(ops)/bot'><x xmlns='http://jabber.org/protocol/muc'><history \(history)/></x></presence>
    server: <presence from='\(ops)/\(nick)' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
     <item affiliation='member' role='participant'/><status code='110'/></x></presence>
    """
  }

  /// Online, with the room's section in force, and not in it.
  @LoopActor private static func outside(
    _ settings: String = section,
    before: @escaping @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> Void = { _ in }
  ) async throws -> DaemonBench {
    let bench = try await DaemonBench(before: before)
    bench.conversation.hidesConfirmations = true
    try bench.goOnline()
    await bench.settle()
    bench.conversation.skip()
    #expect(try bench.reload(settings).isEmpty)
    await bench.settle()
    return bench
  }

  private static func ours(_ body: String, _ state: NewMessage.State) -> NewMessage {
    var row = NewMessage(.out, .groupchat, peer: ops, time: 999_999_500_000_000, body: body)
    (row.room, row.nick, row.messageID, row.originID, row.state) = (ops, "bot", body, body, state)
    return row
  }

  @Test("what is in doubt is looked for in what a room without an archive tells, before it is said again")
  @LoopActor func doubtWithoutArchive() async throws {
    let bench = try await Self.outside { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      var old = NewMessage(.in, .groupchat, peer: Self.ops, time: 999_999_000_000_000, body: "old")
      (old.room, old.nick) = (Self.ops, "alice")
      try transaction.insert(old)
    }
    bench.daemon.flow.outbox.send("doubt", to: try JID(Self.ops))
    await bench.settle()
    let doubt = try #require(try await bench.rows().last?.messageID)
    try bench.play(Self.entry(history: "since='2001-09-09T01:30:00Z'"))
    await bench.settle()
    try bench.play(
      """
      the bot says nothing
      server: <message type='groupchat' from='\(Self.ops)/bot' to='bot@example.org/r' id='\(doubt)'><body>doubt</body>
       <delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:40:00Z' from='\(Self.ops)'/></message>
      \(Self.subject)
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["< old", "> doubt (received)"])
    #expect(bench.daemon.flow.rooms.isOpen(try JID(Self.ops)))
    try bench.play("the bot says nothing")
  }

  @Test("a stamp that a speaker puts on what is said now is not taken for the room's time")
  @LoopActor func speakersStamp() async throws {
    let bench = try await Self.outside()
    try bench.play(Self.entry())
    try bench.play(
      """
      \(Self.subject)
      server: <message type='groupchat' from='\(Self.ops)/mallory' to='bot@example.org/r' id='m1'><body>hi</body>
       <delay xmlns='urn:xmpp:delay' stamp='2099-01-01T00:00:00Z'/></message>
      server: <presence type='unavailable' from='\(Self.ops)/bot' to='bot@example.org/r'>
       <x xmlns='http://jabber.org/protocol/muc#user'><item/><status code='332'/><status code='110'/></x></presence>
      after 15s
      """)
    try bench.play(Self.entry(history: "since='2001-09-09T01:46:40Z'", name: "j"))
  }

  @Test("what goes is noted with the nickname under which it goes")
  @LoopActor func nickname() async throws {
    let bench = try await Self.outside()
    bench.daemon.flow.outbox.send("hello", to: try JID(Self.ops))
    await bench.settle()
    #expect(try await bench.rows().first?.nick == "bot")
    try bench.play(Self.entry(nick: "guest7"))
    await bench.settle()
    let row = try #require(try await bench.rows().first)
    #expect(row.state == .sent && row.nick == "guest7")
  }

  @Test("what was on its way to a room that is none of ours any more is given up when it waits again")
  @LoopActor func strays() async throws {
    let bench = try await Self.outside("")
    bench.daemon.gate.write { transaction throws(DatabaseError) in
      try transaction.insert(Self.ours("stray", .sent))
    } done: {
    }
    try bench.play("the connection is lost\nafter 10s")
    try bench.goOnline()
    await bench.settle()
    #expect(try await bench.transcript() == ["> stray (failed)"])
    #expect(bench.daemon.roomsWanted == 0 && bench.daemon.flow.outbox.waiting == 0)
  }

  @Test("who waits for a room that is left before it was entered hears it, and what waits for it is given up")
  @LoopActor func leftEarly() async throws {
    let bench = try await Self.outside("")
    let rooms = bench.daemon.flow.rooms
    let room = try JID(Self.ops)
    var failure: RoomFailure?
    rooms.join(room, nick: nil) { failure = $0 }
    #expect(rooms.lines.map(\.entry.address) == [room] && rooms.state(of: room) == "joining")
    bench.daemon.flow.outbox.send("hello", to: room)
    #expect(rooms.leave(room))
    #expect(failure?.cause == .ended)
    await bench.settle()
    #expect(bench.daemon.roomsWanted == 0)
  }

  @Test("a room that waits, and is asked for again in vain, is tried on; one that was not ours is left")
  @LoopActor func askedAgain() async throws {
    let bench = try await Self.outside("")
    let reference = Daemon.Reference()
    reference.daemon = bench.daemon
    let service = Daemon.roomService(reference)
    let (rooms, room) = (bench.daemon.flow.rooms, try JID(Self.ops))
    let refusal = """
      bot: <iq type='get' id='$i' to='\(Self.ops)'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      server: <iq type='result' id='$i' from='\(Self.ops)' to='bot@example.org/r'>
       <query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      bot: <presence to='\(Self.ops)/bot'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>
      server: <presence type='error' from='\(Self.ops)/bot' to='bot@example.org/r'>
       <error type='auth'><registration-required xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></presence>
      """
    for isOurs in [true, false] {
      if isOurs { rooms.join(room, nick: "bot") { _ in } }
      var answers = 0
      service.join(room, "bot") { _ in answers += 1 }
      await bench.settle()
      try bench.play(refusal.replacing("$i", with: "$i\(isOurs)"))
      #expect(await bench.turn { answers == 1 })
      #expect(rooms.isRoom(room) == isOurs)
      rooms.leave(room)
    }
  }

  @Test("a visit lasts while something waits for it, each message that goes there prolongs it, and then it is left")
  @LoopActor func visit() async throws {
    // The scripted server says nothing for long. A link that is given up would have time stand still in all rooms.
    let bench = try await Self.outside("[keepalive]\ninterval = 2h\n")
    let (outbox, rooms, room) = (bench.daemon.flow.outbox, bench.daemon.flow.rooms, try JID(Self.ops))
    rooms.visit(room)
    outbox.send("one", to: room)
    await bench.settle()
    #expect(outbox.isAwaited(room))
    try bench.play(Self.entry())
    await bench.settle()
    // It has no archive, and is new: it is open at once, so what waited has gone.
    #expect(!outbox.isAwaited(room))
    bench.clock.advance(by: .seconds(500))
    outbox.send("two", to: room)
    await bench.settle()
    #expect(try await bench.transcript() == ["> one (sent)", "> two (sent)"])
    bench.clock.advance(by: .seconds(599))
    #expect(rooms.isRoom(room))
    bench.clock.advance(by: .seconds(1))
    #expect(!rooms.isRoom(room))
    #expect(await bench.hears("<presence type='unavailable' to='\(Self.ops)/bot'"))
    #expect(try await bench.transcript() == ["> one (sent)", "> two (sent)"])
  }

  @Test("a visit is not left while messages for the room are queued, however long the room does not answer")
  @LoopActor func visitThatWaits() async throws {
    let bench = try await Self.outside("[keepalive]\ninterval = 2h\n")
    let (outbox, rooms, room) = (bench.daemon.flow.outbox, bench.daemon.flow.rooms, try JID(Self.ops))
    rooms.visit(room)
    outbox.send("one", to: room)
    await bench.settle()
    bench.clock.advance(by: .seconds(3_000))
    await bench.settle()
    #expect(rooms.isRoom(room))
    #expect(try await bench.transcript() == ["> one (queued)"])
  }

  @Test("what has gone to a room does not count as waiting for it, also before the queue has come to its end")
  @LoopActor func goneDoesNotWait() async throws {
    let bench = try await Self.outside()
    let (outbox, room) = (bench.daemon.flow.outbox, try JID(Self.ops))
    for _ in 0..<Outbox.mostHeld { outbox.send("x", to: room) }
    await bench.settle()
    #expect(outbox.isFull(room))
    try bench.play(Self.entry())
    // The server takes one batch, and then no more for now.
    bench.dialer.stream?.unsentBytes = 1_000_000
    await bench.settle()
    #expect(outbox.queued == Outbox.mostHeld - 100)
    #expect(!outbox.isFull(room) && outbox.isAwaited(room))
  }

  @Test("so much may wait for a room, and no more")
  @LoopActor func full() async throws {
    let bench = try await Self.outside()
    let (outbox, room) = (bench.daemon.flow.outbox, try JID(Self.ops))
    for _ in 1..<Outbox.mostHeld { outbox.send("x", to: room) }
    await bench.settle()
    #expect(!outbox.isFull(room))
    outbox.send("last", to: room)
    await bench.settle()
    #expect(outbox.isFull(room))
    outbox.send("too much", to: room)
    outbox.send("hello", to: try JID("alice@example.net"))
    await bench.settle()
    let rows = try await bench.rows().suffix(2)
    #expect(rows.map(\.state) == [.failed, .sent] && rows.first?.error == Outbox.tooMuch)
  }
}
