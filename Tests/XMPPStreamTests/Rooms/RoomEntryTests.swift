import JID
import Testing
import XMPPStanzas

@testable import XMPPStream

@Suite("Rooms: getting in")
struct RoomEntryTests {
  private static let ops = RoomDialogue.ops
  private static let history = "<history maxstanzas='0'/>"

  private func join(_ nick: String = "bot", _ content: String = history) -> String {
    "<presence xmlns='jabber:client' to='\(Self.ops)/\(nick)'><x xmlns='http://jabber.org/protocol/muc'>\(content)</x></presence>"
  }

  @Test("a room is asked what it can do, entered, and then we are in it")
  func entry() throws {
    var dialogue = RoomDialogue()
    try dialogue.want()
    #expect(dialogue.actions() == [])
    dialogue.begin()
    #expect(dialogue.actions() == ["ask info"])
    try dialogue.answer(features: [Namespace.muc, Namespace.archive])
    #expect(dialogue.actions() == ["entering", join()])
    try dialogue.presence(Self.ops + "/alice", "<item affiliation='owner' role='moderator' jid='alice@example.org/x'/>")
    #expect(dialogue.actions() == [])
    try dialogue.presence(Self.ops + "/bot", "<item affiliation='none' role='participant'/><status code='110'/>")
    #expect(dialogue.actions() == ["joined as bot", "ready"])
    let room = try #require(dialogue.rooms[try JID(Self.ops)])
    #expect(room.occupants.map(\.nick) == ["alice", "bot"])
    #expect(room.occupant("alice")?.address == (try JID("alice@example.org")))
    #expect(room.hasArchive && room.isJoined)
  }

  @Test("a password is given, and what was said since the newest message is asked for where there is no archive")
  func passwordAndHistory() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want(password: "se<cret", knownUntil: 1_000_000)
    try dialogue.answer(features: [Namespace.muc])
    #expect(
      dialogue.actions().last
        == join("bot", "<password>se&lt;cret</password><history since='1970-01-01T00:00:01Z'/>"))
  }

  @Test("a room that says nothing of itself is entered all the same, and asked again once we are in it")
  func hiddenRoom() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(error: .itemNotFound)
    #expect(dialogue.actions() == ["ask info", "entering", join()])
    try dialogue.presence(
      Self.ops + "/bot", "<item affiliation='owner' role='moderator'/><status code='110'/><status code='201'/>")
    #expect(dialogue.actions() == ["joined as bot, new", "ask acceptDefaults", "ask info"])
    try dialogue.answer(features: [Namespace.occupantID])
    #expect(dialogue.actions() == ["ready"])
    #expect(dialogue.rooms[try JID(Self.ops)]?.vouchesForOccupants == true)
    try dialogue.answer(error: .forbidden)
    #expect(dialogue.actions() == ["not configured: forbidden"])
  }

  @Test("a room that does not answer what it can do is entered after a minute")
  func silentRoom() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    dialogue.wait(.seconds(60))
    #expect(dialogue.actions() == ["ask info", "entering", join()])
    dialogue.wait(.seconds(60))
    #expect(dialogue.actions() == ["failed: noAnswer, retry in 15 s"])
    dialogue.wait(.seconds(15))
    #expect(dialogue.actions() == ["ask info"])
  }

  @Test("a nickname that is taken gets a line behind it, four times; then it is a failure")
  func nickConflict() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(features: [])
    _ = dialogue.actions()
    for nick in ["bot_", "bot__", "bot___", "bot____"] {
      try dialogue.refuse("conflict")
      #expect(dialogue.actions() == ["entering", join(nick)])
    }
    try dialogue.refuse("conflict")
    #expect(dialogue.actions() == ["failed: nickTaken, retry in 60 s"])
  }

  @Test("the nickname is taken back when whoever had it leaves")
  func nickReturns() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(features: [Namespace.muc])
    try dialogue.refuse("conflict")
    try dialogue.presence(Self.ops + "/bot")
    try dialogue.presence(Self.ops + "/bot_", "<item/><status code='110'/>")
    _ = dialogue.actions()
    try dialogue.presence(Self.ops + "/bot", type: "unavailable")
    #expect(dialogue.actions() == ["bot left", "<presence xmlns='jabber:client' to='\(Self.ops)/bot'/>"])
    try dialogue.presence(
      Self.ops + "/bot_", type: "unavailable", "<item nick='bot'/><status code='303'/><status code='110'/>")
    try dialogue.presence(Self.ops + "/bot", "<item/><status code='110'/>")
    #expect(dialogue.actions() == ["renamed bot"])
    #expect(dialogue.rooms[try JID(Self.ops)]?.occupants.map(\.nick) == ["bot"])
  }

  @Test("a nickname that the room gives is ours")
  func nickAssigned() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(features: [])
    try dialogue.presence(Self.ops + "/guest7", "<item/><status code='110'/><status code='210'/>")
    #expect(dialogue.actions().suffix(2) == ["joined as guest7", "ready"])
    #expect(dialogue.rooms[try JID(Self.ops)]?.nick == "guest7")
  }

  @Test(
    "a refusal is told once, with how soon the room is tried again",
    arguments: [
      ("not-authorized", "wrongPassword, retry in 3600 s"), ("forbidden", "banned, retry in 3600 s"),
      ("registration-required", "membersOnly, retry in 60 s"), ("item-not-found", "notFound, retry in 60 s"),
      ("not-allowed", "mayNotCreate, retry in 60 s"), ("not-acceptable", "nickRefused, retry in 3600 s"),
      ("service-unavailable", "full, retry in 60 s"), ("gone", "gone, retry in 3600 s"),
      ("remote-server-not-found", "serverNotFound, retry in 15 s"),
      ("remote-server-timeout", "serverSilent, retry in 15 s"), ("undefined-condition", "refused, retry in 60 s"),
    ])
  func refusals(_ condition: String, _ told: String) throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(features: [])
    _ = dialogue.actions()
    try dialogue.refuse(condition)
    #expect(dialogue.actions() == ["failed: " + told])
    dialogue.wait(.seconds(3_600))
    try dialogue.answer(features: [])
    try dialogue.refuse(condition)
    #expect(dialogue.actions().contains { $0.hasPrefix("again: ") })
  }

  @Test("a room that refuses is not tried more often than it should be, however long that goes on")
  func neverHammered() throws {
    for (condition, most) in [("forbidden", 25), ("registration-required", 31), ("remote-server-timeout", 151)] {
      var dialogue = RoomDialogue()
      dialogue.begin()
      try dialogue.want()
      var attempts = 0
      // A day, minute by minute.
      for _ in 0..<1_440 {
        while dialogue.requests.last != nil {
          try dialogue.answer(features: [])
          try dialogue.refuse(condition)
          attempts += 1
        }
        dialogue.wait(.seconds(60))
      }
      #expect(attempts > 20 && attempts <= most, "\(condition): \(attempts)")
    }
  }

  @Test("another password is tried at once, another nickname is asked for, and what is the same changes nothing")
  func updates() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want(password: "a")
    try dialogue.answer(features: [])
    try dialogue.refuse("not-authorized")
    _ = dialogue.actions()
    try dialogue.want(password: "a")
    #expect(dialogue.actions() == [])
    try dialogue.want(password: "b")
    #expect(dialogue.actions() == ["ask info"])
    try dialogue.enter()
    try dialogue.want(nick: "robot", password: "b")
    #expect(dialogue.actions() == ["<presence xmlns='jabber:client' to='\(Self.ops)/robot'/>"])
    try dialogue.refuse("conflict", from: Self.ops + "/robot")
    #expect(dialogue.actions() == [])
    #expect(dialogue.rooms[try JID(Self.ops)]?.isJoined == true)
  }

  @Test("a room without an archive is ready when it has told what was said before, or after a minute")
  func pastFirst() throws {
    for isTold in [true, false] {
      var dialogue = RoomDialogue()
      dialogue.begin()
      try dialogue.want(knownUntil: 1_000_000)
      try dialogue.answer(features: [Namespace.muc])
      try dialogue.presence(Self.ops + "/bot", "<item/><status code='110'/>")
      #expect(dialogue.actions().last == "joined as bot")
      if isTold { _ = try dialogue.message(Self.ops, "<subject>Operations</subject>") }
      dialogue.wait(.seconds(isTold ? 0 : 59))
      #expect(dialogue.actions() == (isTold ? ["ready"] : []))
      dialogue.wait(.seconds(1))
      #expect(dialogue.actions() == (isTold ? [] : ["ready"]))
    }
  }

  @Test("what is asked from within, and was lost with the stream, is asked again")
  func askedAgain() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(error: .itemNotFound)
    try dialogue.presence(Self.ops + "/bot", "<item/><status code='110'/><status code='201'/>")
    _ = dialogue.actions()
    dialogue.lose()
    try dialogue.answer(error: .remoteServerTimeout)
    try dialogue.answer(error: .remoteServerTimeout)
    #expect(dialogue.actions() == [])
    dialogue.resume()
    #expect(dialogue.actions() == ["ask selfPing", "ask acceptDefaults", "ask info"])
    try dialogue.answer(features: [Namespace.archive])
    #expect(dialogue.actions() == ["ready"])
    try dialogue.answer()
    dialogue.resume()
    #expect(dialogue.actions() == ["ask selfPing"])
  }
}
