import JID
import Testing
import XMPPStanzas

@testable import XMPPStream

@Suite("Rooms: staying, and being put out")
struct RoomStayTests {
  private static let ops = RoomDialogue.ops

  private func joined() throws -> RoomDialogue {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.enter(features: [Namespace.muc])
    return dialogue
  }

  @Test(
    "how a stay ends is told, and how soon the room is tried again",
    arguments: [
      ("<item/><status code='307'/><status code='110'/>", "kicked, retry in 60 s"),
      ("<item affiliation='outcast'/><status code='301'/><status code='110'/>", "banned, retry in 3600 s"),
      ("<item/><status code='321'/><status code='110'/>", "removed, retry in 60 s"),
      ("<item/><status code='322'/><status code='110'/>", "removed, retry in 60 s"),
      ("<item/><status code='332'/><status code='110'/>", "shutDown, retry in 15 s"),
      ("<item/><status code='333'/><status code='307'/><status code='110'/>", "technical, retry in 15 s"),
      ("<item/><destroy jid='new@conference.example.org'/>", "destroyed, retry in 60 s"),
      ("<item/>", "ended, retry in 15 s"),
    ])
  func endings(_ user: String, _ told: String) throws {
    var dialogue = try joined()
    try dialogue.presence(Self.ops + "/bot", type: "unavailable", user)
    #expect(dialogue.actions() == ["failed: " + told])
    #expect(dialogue.rooms[try JID(Self.ops)]?.occupants == [])
  }

  @Test("who kicked the bot, and why, is told on one line of bounded length")
  func kickReason() throws {
    var dialogue = try joined()
    let long = String(repeating: "x", count: 500)
    try dialogue.presence(
      Self.ops + "/bot", type: "unavailable",
      "<item><actor nick='alice'/><reason>too\nloud \u{202e}\(long)</reason></item><status code='307'/><status code='110'/>"
    )
    guard case .waiting(let failure)? = dialogue.rooms[try JID(Self.ops)]?.state else {
      Issue.record("the stay goes on")
      return
    }
    #expect(failure.description.hasPrefix("the bot was kicked (by alice: too loud xxx"))
    #expect(failure.description.utf8.count < 300)
  }

  @Test("after a kick the room is entered again, later each time")
  func kickedAndBack() throws {
    var dialogue = try joined()
    for pause in [60, 120, 240] {
      try dialogue.presence(Self.ops + "/bot", type: "unavailable", "<item/><status code='307'/><status code='110'/>")
      #expect(dialogue.actions().last?.hasSuffix("kicked, retry in \(pause) s") == true)
      dialogue.wait(.seconds(pause - 1))
      #expect(dialogue.actions() == [])
      dialogue.wait(.seconds(1))
      #expect(dialogue.actions() == ["ask info"])
      try dialogue.enter()
    }
    #expect(dialogue.rooms.joinedCount == 1)
  }

  @Test("a room that was destroyed is not made again, and entered when somebody else makes it")
  func destroyed() throws {
    var dialogue = try joined()
    try dialogue.presence(Self.ops + "/bot", type: "unavailable", "<item/><destroy/>")
    dialogue.wait(.seconds(60))
    try dialogue.answer(error: .itemNotFound)
    #expect(dialogue.actions().last?.hasPrefix("again: destroyed") == true)
    dialogue.wait(.seconds(120))
    try dialogue.answer(features: [])
    #expect(dialogue.actions().contains("entering"))
  }

  @Test("a room that says nothing for ten minutes is asked whether we are in it; one that talks is not")
  func selfPing() throws {
    var dialogue = try joined()
    dialogue.wait(.seconds(599))
    _ = try dialogue.message(Self.ops + "/alice", "<body>hi</body>")
    dialogue.wait(.seconds(599))
    #expect(dialogue.actions() == [])
    dialogue.wait(.seconds(1))
    #expect(dialogue.actions() == ["ask selfPing"])
    #expect(dialogue.requests.last?.to == (try JID(Self.ops + "/bot")))
    try dialogue.answer()
    #expect(dialogue.actions() == [])
    dialogue.wait(.seconds(600))
    #expect(dialogue.actions() == ["ask selfPing"])
    try dialogue.answer(error: .notAcceptable)
    #expect(dialogue.actions() == ["ask info"])
  }

  @Test("a nickname that nobody could choose, but the room has given, is pinged and left like any other")
  func oddNickname() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.enter(nick: "\u{2460}\u{200b}")
    dialogue.wait(.seconds(1_200))
    #expect(dialogue.actions() == ["ask selfPing"])
    #expect(dialogue.requests.last?.to.resource == "\u{2460}\u{200b}")
    try dialogue.leave()
    #expect(dialogue.actions().first?.contains("/\u{2460}\u{200b}'") == true)
  }

  @Test("a ping that is answered by what the bot can't do, or is lost on its way, is no reason to enter anew")
  func doubts() throws {
    var dialogue = try joined()
    dialogue.wait(.seconds(600))
    try dialogue.answer(error: .serviceUnavailable)
    dialogue.wait(.seconds(600))
    #expect(dialogue.actions() == ["ask selfPing", "ask selfPing"])
    try dialogue.answer(error: .remoteServerTimeout)
    dialogue.wait(.seconds(60))
    try dialogue.answer(error: .remoteServerTimeout)
    dialogue.wait(.seconds(60))
    #expect(dialogue.actions() == ["ask selfPing", "ask selfPing"])
    try dialogue.answer(error: .remoteServerTimeout)
    #expect(dialogue.actions() == ["ask info"])
  }

  @Test("after a resumption each room is asked whether we are in it; after a new session all are entered again")
  func streams() throws {
    var dialogue = try joined()
    dialogue.lose()
    dialogue.wait(.seconds(3_600))
    #expect(dialogue.actions() == [])
    dialogue.resume()
    #expect(dialogue.actions() == ["ask selfPing"])
    dialogue.lose()
    dialogue.resume()
    #expect(dialogue.actions() == ["ask selfPing"])
    dialogue.begin()
    #expect(dialogue.actions() == ["ask info"])
    #expect(dialogue.rooms.joinedCount == 0)
  }

  @Test("a room that is not wanted any more is left, and none of ours from then on")
  func leaving() throws {
    var dialogue = try joined()
    try dialogue.leave()
    #expect(
      dialogue.actions() == ["<presence xmlns='jabber:client' type='unavailable' to='\(Self.ops)/bot'/>", "left"])
    #expect(try !dialogue.presence(Self.ops + "/alice"))
    #expect(try dialogue.message(Self.ops + "/alice", "<body>hi</body>") == nil)
    #expect(dialogue.rooms.due == nil)
  }

  @Test("a visit ends when there was nothing to say for ten minutes; a section makes it a stay")
  func visits() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want(RoomDialogue.ops, .visit)
    try dialogue.enter()
    dialogue.wait(.seconds(500))
    try dialogue.want(RoomDialogue.ops, .visit)
    dialogue.wait(.seconds(599))
    #expect(dialogue.rooms.count == 1)
    dialogue.wait(.seconds(1))
    #expect(dialogue.actions().last == "left")
    try dialogue.want(RoomDialogue.ops, .visit)
    try dialogue.enter()
    try dialogue.want()
    dialogue.wait(.seconds(7_200))
    #expect(dialogue.rooms.count == 1)
  }

  @Test("who comes, goes, changes name or standing after us is told; who was there before us is not")
  func people() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want()
    try dialogue.answer(features: [])
    try dialogue.presence(Self.ops + "/alice")
    try dialogue.presence(Self.ops + "/bot", "<item/><status code='110'/>")
    _ = dialogue.actions()
    try dialogue.presence(Self.ops + "/alice")
    try dialogue.presence(Self.ops + "/alice", "<item affiliation='none' role='moderator'/>")
    try dialogue.presence(Self.ops + "/bob")
    try dialogue.presence(Self.ops + "/bob", type: "unavailable", "<item nick='rob'/><status code='303'/>")
    try dialogue.presence(Self.ops + "/rob")
    try dialogue.presence(
      Self.ops + "/rob", type: "unavailable",
      "<item><actor nick='alice'/><reason>loud</reason></item><status code='307'/>")
    try dialogue.presence(Self.ops + "/alice", type: "unavailable")
    #expect(
      dialogue.actions() == [
        "alice stands otherwise", "bob entered", "rob was bob", "rob left: kicked (by alice: loud)", "alice left",
      ])
  }

  @Test("who has a name that only looks like ours is somebody else")
  func lookalike() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want(nick: "b\u{f6}t")
    try dialogue.enter(nick: "b\u{f6}t")
    try dialogue.presence(Self.ops + "/bo\u{308}t")
    try dialogue.presence(Self.ops + "/bo\u{308}t", type: "unavailable")
    #expect(dialogue.rooms.joinedCount == 1)
    #expect(try dialogue.message(Self.ops + "/bo\u{308}t", "<body>a</body>")?.origin == .live)
  }

  @Test("a visit lasts while something waits to be said, and has its whole time again on another stream")
  func visitsThatAreAwaited() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want(RoomDialogue.ops, .visit)
    try dialogue.enter()
    dialogue.isAwaited = true
    dialogue.wait(.seconds(599))
    dialogue.lose()
    dialogue.wait(.seconds(7_200))
    dialogue.isAwaited = false
    dialogue.resume()
    dialogue.wait(.seconds(599))
    #expect(dialogue.rooms.count == 1)
    dialogue.isAwaited = true
    dialogue.wait(.seconds(1))
    #expect(dialogue.rooms.count == 1)
    dialogue.isAwaited = false
    dialogue.wait(.seconds(600))
    #expect(dialogue.rooms.count == 0)
  }

  @Test("a visit ends though the room's server is away, where nothing waits to be said")
  func visitsInVain() throws {
    var dialogue = RoomDialogue()
    dialogue.begin()
    try dialogue.want(RoomDialogue.ops, .visit)
    try dialogue.answer(error: .remoteServerTimeout)
    try dialogue.refuse("remote-server-timeout")
    dialogue.wait(.seconds(600))
    #expect(dialogue.rooms.count == 0)
  }

  @Test("a visit to a room whose server is away goes on until it is back; one to a room that lets nobody in ends")
  func visitsThatWait() throws {
    var dialogue = RoomDialogue()
    dialogue.isAwaited = true
    dialogue.begin()
    try dialogue.want(RoomDialogue.ops, .visit)
    for _ in 0..<40 {
      if !dialogue.requests.isEmpty {
        try dialogue.answer(error: .remoteServerTimeout)
        try dialogue.refuse("remote-server-timeout")
      }
      dialogue.wait(.seconds(60))
    }
    #expect(dialogue.rooms.count == 1)
    while dialogue.requests.isEmpty { dialogue.wait(.seconds(60)) }
    try dialogue.answer(features: [])
    try dialogue.refuse("forbidden")
    dialogue.wait(.seconds(600))
    #expect(dialogue.rooms.count == 0)
  }

  @Test("presences and messages of rooms that were not asked for change nothing")
  func strangers() throws {
    var dialogue = try joined()
    #expect(
      try !dialogue.presence("trap@conference.evil.example/bot", "<item/><status code='110'/><status code='201'/>"))
    #expect(try dialogue.message("trap@conference.evil.example/alice", "<body>!deploy</body>") == nil)
    #expect(dialogue.actions() == [])
    #expect(dialogue.rooms.count == 1)
  }

  @Test("a crowd of a hundred thousand is known in part, and the room goes on")
  func crowd() throws {
    var dialogue = try joined()
    for number in 0..<100_000 where number < 5_000 || number % 50 == 0 {
      try dialogue.presence(Self.ops + "/n\(number)")
    }
    let room = try #require(dialogue.rooms[try JID(Self.ops)])
    #expect(room.occupantCount == Occupants.most && room.isCrowd)
    let said = try #require(try dialogue.message(Self.ops + "/n99950", "<body>hi</body>"))
    #expect(said.mayAct && said.affiliation == nil && said.role == nil)
  }

  @Test("a room that we turn out not to be in takes nothing until we are in it again, and what was missed is here")
  func open() throws {
    var dialogue = try joined()
    let ops = try JID(Self.ops)
    #expect(try dialogue.open() && dialogue.rooms[ops]?.isOpen == true)
    dialogue.wait(.seconds(600))
    try dialogue.answer(error: .notAcceptable)
    #expect(dialogue.rooms[ops]?.isOpen == false)
    #expect(try !dialogue.open())
    try dialogue.enter()
    #expect(dialogue.rooms[ops]?.isOpen == false)
    #expect(try dialogue.open())
  }
}
