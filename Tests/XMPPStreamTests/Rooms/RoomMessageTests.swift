import JID
import Testing
import XMPPStanzas

@testable import XMPPStream

@Suite("Rooms: what is said in them")
struct RoomMessageTests {
  private static let ops = RoomDialogue.ops

  private func joined(_ features: [String] = [Namespace.muc]) throws -> RoomDialogue {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.enter(features: features)
    return dialogue
  }

  private static func delay(from: String) -> String {
    "<delay xmlns='urn:xmpp:delay' stamp='2026-01-01T00:00:00Z' from='\(from)'/>"
  }

  @Test("what is said now, what was said before we came, and what we say ourselves are told apart")
  func origins() throws {
    var dialogue = try joined()
    let past = try dialogue.message(Self.ops + "/alice", "<body>a</body>" + Self.delay(from: "alice@example.org"))
    #expect(past?.origin == .history && past?.mayAct == false)
    // The subject that a room tells whoever comes ends what was before.
    #expect(try dialogue.message(Self.ops + "/alice", "<subject>Operations</subject>")?.origin == .history)
    #expect(dialogue.rooms[try JID(Self.ops)]?.subject == "Operations")
    #expect(try dialogue.message(Self.ops + "/alice", "<subject>Operations</subject>")?.origin == .live)
    let late = try dialogue.message(Self.ops + "/alice", "<body>a</body>" + Self.delay(from: Self.ops))
    #expect(late?.origin == .history)
    let slow = try dialogue.message(Self.ops + "/alice", "<body>a</body>" + Self.delay(from: "alice@example.org"))
    #expect(slow?.origin == .live && slow?.mayAct == true)
    let own = try dialogue.message(Self.ops + "/bot", "<body>a</body>")
    #expect(own?.origin == .reflection && own?.mayAct == false)
    let room = try dialogue.message(Self.ops, "<body>This room is not anonymous</body>")
    #expect(room?.nick == nil && room?.mayAct == false)
  }

  @Test("who speaks is what the room says of the occupant")
  func standing() throws {
    var dialogue = try joined([Namespace.muc, Namespace.occupantID])
    try dialogue.presence(
      Self.ops + "/alice", "<item affiliation='admin' role='moderator' jid='Alice@example.org/x'/>",
      besides: "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='o1'/>")
    let said = try #require(
      try dialogue.message(
        Self.ops + "/alice", "<body>a</body><occupant-id xmlns='urn:xmpp:occupant-id:0' id='o1'/>"))
    #expect(said.address == (try JID("alice@example.org")))
    #expect(said.affiliation == .admin && said.role == .moderator && said.occupantID == "o1")
    try dialogue.presence(Self.ops + "/alice", type: "unavailable", "<item nick='al'/><status code='303'/>")
    let renamed = try #require(try dialogue.message(Self.ops + "/al", "<body>a</body>"))
    #expect(renamed.affiliation == .admin)
  }

  @Test("ids that a room does not say it vouches for are gone")
  func forgedIDs() throws {
    let content =
      "<body>a</body><occupant-id xmlns='urn:xmpp:occupant-id:0' id='o1'/>"
      + "<stanza-id xmlns='urn:xmpp:sid:0' by='\(Self.ops)' id='s1'/>"
    var plain = try joined()
    let said = try #require(try plain.message(Self.ops + "/alice", content))
    #expect(said.occupantID == nil && said.message.occupantID == nil && said.message.stanzaIDs.isEmpty)
    var modern = try joined([Namespace.occupantID, Namespace.stanzaID])
    let vouched = try #require(try modern.message(Self.ops + "/alice", content))
    #expect(vouched.occupantID == "o1" && vouched.message.stanzaIDs.first?.id == "s1")
  }

  @Test("a private message is none of the room's")
  func privateMessage() throws {
    var dialogue = try joined()
    #expect(try dialogue.message(Self.ops + "/alice", "<body>a</body>", "type='chat'") == nil)
  }

  @Test("a room that put us out says nothing that counts")
  func outside() throws {
    var dialogue = try joined()
    try dialogue.presence(Self.ops + "/bot", type: "unavailable", "<item/><status code='307'/><status code='110'/>")
    #expect(try dialogue.message(Self.ops + "/alice", "<body>a</body>") == nil)
  }
}
