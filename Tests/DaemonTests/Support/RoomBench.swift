import BotKit
import EventLoop
import JID
import Testing
import XMPPTesting

@testable import Daemon

/// A daemon in the room ops@rooms.example.org, as "bot", with alice, a member whose address the room shows, and mallory, of whom
/// it shows nothing but an occupant-id.
@LoopActor
struct RoomBench {
  nonisolated static let room = "ops@rooms.example.org"
  let bench: DaemonBench
  var daemon: Daemon { bench.daemon }

  /// `section`: lines of the room's section. `settings`: further sections. `vouches`: the room gives ids to messages and occupants.
  static func inside(
    section: String = "", _ settings: String = "", handlers: [any CommandHandler] = [], vouches: Bool = true
  ) async throws -> RoomBench {
    let bench = try await DaemonBench(
      "[room \(room)]\nnick = bot\n\(section)\n\(settings)", handlers: handlers)
    await bench.settle()
    let inside = RoomBench(bench: bench)
    try await inside.arrive(vouches: vouches)
    return inside
  }

  /// Comes online and into the room. `mallory`: the occupant-id of whoever has that nickname.
  func arrive(vouches: Bool = true, mallory: String = "m1") async throws {
    try bench.goOnline(features: vouches ? ["urn:xmpp:sid:0", "urn:xmpp:occupant-id:0"] : ["x"])
    await bench.settle()
    bench.conversation.hidesConfirmations = true
    try enter("alice", jid: "alice@example.net/phone", affiliation: "member")
    try enter("mallory", id: mallory)
    try bench.play(
      """
      server: <presence from='\(Self.room)/bot' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
       <item affiliation='none' role='participant'/><status code='110'/></x></presence>
      server: <message from='\(Self.room)' to='bot@example.org/r' type='groupchat'><subject>Talk</subject></message>
      """)
    await bench.settle()
    try #require(bench.daemon.flow.rooms.isOpen(try JID(Self.room)))
    bench.conversation.skip()
  }

  func enter(
    _ nick: String, jid: String? = nil, id: String? = nil, affiliation: String = "none", role: String = "participant"
  ) throws {
    let jid = jid.map { "jid='\($0)'" } ?? ""
    let occupant = id.map { "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\($0)'/>" } ?? ""
    try bench.play(
      """
      server: <presence from='\(Self.room)/\(nick)' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
       <item affiliation='\(affiliation)' role='\(role)' \(jid)/></x>\(occupant)</presence>
      """)
  }

  func leave(_ nick: String, renamedTo new: String? = nil) throws {
    let item = new.map { "<item affiliation='none' role='participant' nick='\($0)'/><status code='303'/>" }
    try bench.play(
      """
      server: <presence type='unavailable' from='\(Self.room)/\(nick)' to='bot@example.org/r'>
       <x xmlns='http://jabber.org/protocol/muc#user'>\(item ?? "<item affiliation='none' role='none'/>")</x></presence>
      """)
  }

  /// `nick` says `body` to all, or as `type`; the room's id of it is `s` and `id`.
  func say(
    _ nick: String, _ body: String, id: String = "1", type: String = "groupchat", more: String = ""
  ) async throws {
    let stanzaID =
      type == "groupchat" ? "<stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.room)' id='s\(id)'/>" : ""
    try bench.play(
      """
      server: <message from='\(Self.room)/\(nick)' to='bot@example.org/r' type='\(type)' id='\(id)'>
       <body>\(body)</body>\(stanzaID)\(more)</message>
      """)
    await bench.settle()
  }

  /// The bot says `body` to all, as a reply to the message with this id, and nothing else before.
  func expectAnswer(_ body: String, to id: String? = "s1") throws {
    let reply = id.map { "<reply xmlns='urn:xmpp:reply:0' id='\($0)'/>" } ?? ""
    let name = "\(Counter.next())-"
    let body = body.replacing("\n", with: "&#10;")
    try bench.play(
      """
      bot: <message type='groupchat' to='\(Self.room)' id='$answer\(name)'><body>\(body)</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$answer\(name)'/>\(reply)</message>
      """)
  }

  func expectSilence() throws { try bench.play("the bot says nothing") }

  private enum Counter {
    @LoopActor static var last = 0
    @LoopActor static func next() -> Int {
      last += 1
      return last
    }
  }
}
