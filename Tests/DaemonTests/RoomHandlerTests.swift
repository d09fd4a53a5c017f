import EventLoop
import Testing
import XMPPTesting

@testable import Daemon

@Suite("A handler that hears rooms", .serialized)
struct RoomHandlerTests {
  init() { LoopThread.start() }

  /// Says into the room what it is told, and answers what is said.
  private static let script = #"""
    #!/bin/sh
    field() { rest=${line#*"\"$1\":\""}; printf %s "${rest%%'"'*}"; }
    say() { printf '{"type":"send","to":"ops@rooms.example.org","text":"%s"}\n' "$1"; }
    while IFS= read -r line; do
      case $(field type) in
        room) say "told: $(field event) $(field nick)" ;;
        presence) say "told: $(field nick) is $(field show)" ;;
        message) printf '{"type":"reply","id":"%s","text":"you said %s"}\n' "$(field id)" "$(field text)" ;;
        command) printf '{"type":"react","id":"%s","emoji":"👍","done":true}\n' "$(field id)" ;;
      esac
    done
    """#

  @LoopActor private func inside(
    _ events: String, allow: String = "everyone", send: String = RoomBench.room
  ) async throws -> RoomBench {
    let room = try await RoomBench.inside()
    try room.bench.scratch.write(Self.script, to: "ears", mode: 0o755)
    let faults = try room.bench.reload(
      """
      [room \(RoomBench.room)]
      nick = bot
      [handler ears]
      exec = \(room.bench.scratch.file("ears"))
      commands = like
      events = \(events)
      allow = \(allow)
      where = room
      send = \(send)
      """)
    #expect(faults.isEmpty)
    #expect(await room.bench.turn { room.bench.recording.messages(.handlerStarted).count == 1 })
    return room
  }

  @Test("is told who enters and what the subject is, and speaks in the room")
  @LoopActor func events() async throws {
    let room = try await inside("room")
    try room.enter("carol", jid: "carol@example.net/x")
    #expect(await room.bench.hears("type='groupchat' to='\(RoomBench.room)'"))
    #expect(await room.bench.hears("<body>told: joined carol</body>"))
    try room.leave("carol")
    #expect(await room.bench.hears("<body>told: left carol</body>"))
    try room.bench.play(
      "server: <message from='\(RoomBench.room)/alice' to='bot@example.org/r' type='groupchat'><subject>Dinner</subject></message>"
    )
    #expect(await room.bench.hears("<body>told: subject alice</body>"))
  }

  @Test("is told that an occupant is away")
  @LoopActor func presence() async throws {
    let room = try await inside("presence")
    try room.bench.play(
      """
      server: <presence from='\(RoomBench.room)/alice' to='bot@example.org/r'><show>away</show>
       <x xmlns='http://jabber.org/protocol/muc#user'>
       <item affiliation='member' role='participant' jid='alice@example.net/phone'/></x></presence>
      """)
    #expect(await room.bench.hears("<body>told: alice is away</body>"))
  }

  @Test("hears what is no command, of those whom its section admits, and answers them")
  @LoopActor func messages() async throws {
    let room = try await inside("message", allow: "affiliation:member")
    try await room.say("mallory", "not for you", id: "1")
    try await room.say("alice", "good morning", id: "2")
    #expect(await room.bench.hears("<body>alice: you said good morning</body>"))
    #expect(try await !room.bench.transcript().contains { $0.hasPrefix("> ") && $0.contains("not for you") })
  }

  @Test("reacts by the id that the room gave")
  @LoopActor func reaction() async throws {
    let room = try await inside("command")
    try await room.say("alice", "!like", id: "7")
    #expect(await room.bench.hears("<reactions xmlns='urn:xmpp:reactions:0' id='s7'>"))
  }

  @Test("says nothing in a room that its section does not name")
  @LoopActor func rights() async throws {
    let room = try await inside("room", send: "none")
    try room.enter("carol")
    #expect(await room.bench.turn { !room.bench.recording.messages(.handlerOutput).isEmpty })
    #expect(room.bench.recording.messages(.handlerOutput).first?.contains("is not among those whom `send`") == true)
  }
}
