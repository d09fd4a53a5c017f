import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("What is said in rooms")
struct RoomMessagesTests {
  private let folder = TemporaryFolder()
  private static let ops = "ops@conference.example.org"
  private static let odd = #"a\20b@conference.example.org"#

  private func ours(_ id: String, in room: String = ops, nick: String = "bot", _ kind: NewMessage.Kind = .groupchat)
    -> NewMessage
  {
    var row = NewMessage(.out, kind, peer: room, time: start, body: id)
    (row.room, row.nick, row.messageID, row.originID) = (room, nick, id, id)
    return row
  }

  @Test("what waits for a room is given out only when the room takes something, and holds up nothing else")
  func queue() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(ours("one"))
    try archive.insertAndWait(ours("two", in: Self.odd))
    try archive.insertAndWait(NewMessage(.out, .chat, peer: "alice@example.net", time: start, body: "three"))
    func waiting(_ rooms: [String]) throws -> [String?] {
      try archive.readAndWait { queries throws(DatabaseError) in
        try queries.queued(limit: 9, rooms: rooms).map(\.body)
      }
    }
    #expect(try waiting([]) == ["three"])
    #expect(try waiting([Self.ops]) == ["one", "three"])
    #expect(try waiting([Self.odd, Self.ops]) == ["one", "two", "three"])
    let rooms = try archive.readAndWait { queries throws(DatabaseError) in try queries.roomsWithQueued() }
    #expect(Set(rooms) == [Self.ops, Self.odd])
  }

  @Test("no occupant settles what was said to all or to another, nor makes it fail; the room itself may")
  func othersWords() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(ours("all"))
    var whisper = ours("whisper", nick: "alice", .chat)
    whisper.resource = "alice"
    try archive.insertAndWait(whisper)
    func settles(_ id: String, _ nick: String?) throws -> Bool {
      try archive.writeAndWait { transaction throws(DatabaseError) in
        try transaction.advance(id, peer: Self.ops, nick: nick, to: .received)
      }
    }
    func fails(_ id: String, _ nick: String?) throws -> Bool {
      try archive.writeAndWait { transaction throws(DatabaseError) in
        try transaction.fail(messageID: id, peer: Self.ops, nick: nick, error: "no")
      }
    }
    for nick in ["mallory", "alice"] {
      #expect(try !settles("all", nick))
      #expect(try !fails("all", nick))
    }
    #expect(try !settles("whisper", "mallory"))
    #expect(try !fails("whisper", "mallory"))
    #expect(try fails("all", nil))
    #expect(try fails("whisper", "alice"))
    (whisper.messageID, whisper.originID) = ("second", "second")
    try archive.insertAndWait(whisper)
    #expect(try settles("second", "alice"))
    archive.close()
  }

  @Test("the room's copy makes ours received, by id, room and nickname, and gives it the room's id")
  func reflection() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(ours("one"))
    func reflect(_ id: String, _ room: String, _ nick: String?) throws -> Bool {
      try archive.writeAndWait { transaction throws(DatabaseError) in
        try transaction.reflect(id, room: room, nick: nick, stanzaID: .init(id: "s1", by: Self.ops))
      }
    }
    #expect(try !reflect("other", Self.ops, "bot"))
    #expect(try !reflect("one", Self.odd, "bot"))
    #expect(try !reflect("one", Self.ops, "mallory"))
    #expect(try reflect("one", Self.ops, "bot"))
    #expect(try reflect("one", Self.ops, nil))
    let row = try #require(
      try archive.readAndWait { queries throws(DatabaseError) in try queries.newestID() == 1 ? 1 : nil })
    #expect(row == 1)
    let waiting = try archive.readAndWait { queries throws(DatabaseError) in
      try queries.queued(limit: 9, rooms: [Self.ops]).count
    }
    #expect(waiting == 0)
  }

  @Test("what waits for a room that is left has failed, with the reason")
  func givenUp() throws {
    let archive = try openArchive(folder)
    for row in [ours("one"), ours("two"), ours("three", in: Self.odd)] { try archive.insertAndWait(row) }
    let failed = try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.giveUp(room: Self.ops, error: "left")
    }
    #expect(failed == ["one", "two"])
    let waiting = try archive.readAndWait { queries throws(DatabaseError) in
      try queries.queued(limit: 9, rooms: [Self.ops, Self.odd]).map(\.body)
    }
    #expect(waiting == ["three"])
  }

  @Test("how far a room is known is the time of what came last, as it was said there")
  func newestTime() throws {
    let archive = try openArchive(folder)
    func newest() throws -> Int64? {
      try archive.readAndWait { queries throws(DatabaseError) in try queries.newestTime(in: Self.ops) }
    }
    #expect(try newest() == nil)
    var row = NewMessage(.in, .groupchat, peer: Self.ops, time: start, body: "a")
    (row.room, row.delay) = (Self.ops, start - 500)
    try archive.insertAndWait(row)
    try archive.insertAndWait(ours("later"))
    #expect(try newest() == start - 500)
  }

  @Test("a speaker's own stamp does not become how far a room is known, neither a late one nor an early one")
  func speakersStamp() throws {
    let archive = try openArchive(folder)
    for (number, stamp) in [nil, start + 2_000_000_000_000_000, 0].enumerated() {
      var row = NewMessage(.in, .groupchat, peer: Self.ops, time: start + Int64(number), body: "a")
      (row.room, row.delay) = (Self.ops, stamp)
      try archive.insertAndWait(row)
    }
    let newest = try archive.readAndWait { queries throws(DatabaseError) in try queries.newestTime(in: Self.ops) }
    #expect(newest == start + 1)
  }

  @Test("what waits is counted for each room, and a message is given the nickname under which it went")
  func counts() throws {
    let archive = try openArchive(folder)
    for row in [ours("one"), ours("two"), ours("three", in: Self.odd)] { try archive.insertAndWait(row) }
    try archive.insertAndWait(NewMessage(.out, .chat, peer: "alice@example.net", time: start, body: "four"))
    let counts = try archive.readAndWait { queries throws(DatabaseError) in try queries.queuedByRoom() }
    #expect(counts == [Self.ops: 2, Self.odd: 1])
    let isKnown = try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.setNick("robot", ofMessage: 1)
      return try transaction.reflect("one", room: Self.ops, nick: "robot", stanzaID: nil)
    }
    #expect(isKnown)
  }
}
