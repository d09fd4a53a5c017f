import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Messages that come once more")
struct RecognitionTests {
  let folder = TemporaryFolder()
  let bot = "bot@example.org"

  func incoming(_ id: String, _ body: String = "hello", stanzaID: String? = nil, delayed: Bool = false) -> NewMessage {
    var row = message(body)
    row.messageID = id
    row.resource = "phone"
    row.stanzaID = stanzaID.map { .init(id: $0, by: bot) }
    row.delay = delayed ? start - 1 : nil
    return row
  }

  func own(_ id: String, stanzaID: String? = nil, state: NewMessage.State = .acked) -> NewMessage {
    var row = NewMessage(.out, .chat, peer: "alice@example.org", time: start, body: "pong", state: state)
    row.messageID = id
    row.originID = id
    row.stanzaID = stanzaID.map { .init(id: $0, by: bot) }
    return row
  }

  func archived(_ message: NewMessage, in archive: Archive) throws -> ArchiveTransaction.Insertion {
    try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.insertArchived(message) }
  }

  func row(_ id: Int64, in archive: Archive) throws -> MessageRow? {
    try archive.readAndWait { queries throws(DatabaseError) in try queries.message(id: id) }
  }

  @Test("what the server's archive has and ours has not is added")
  func new() throws {
    let archive = try openArchive(folder)
    #expect(try archived(incoming("1", stanzaID: "s1"), in: archive) == .inserted(id: 1))
    #expect(try archived(own("o1", stanzaID: "s2"), in: archive) == .inserted(id: 2))
    #expect(try archived(incoming("1", stanzaID: "s1"), in: archive) == .duplicate)
    #expect(try archived(own("o1", stanzaID: "s2"), in: archive) == .duplicate)
    archive.close()
  }

  @Test("a message that came live without a stanza-id gets it from the archive, each row its own")
  func incomingTwin() throws {
    let archive = try openArchive(folder)
    for _ in 1...2 { try archive.insertAndWait(incoming("1")) }
    #expect(try archived(incoming("1", stanzaID: "s1", delayed: true), in: archive) == .recognised(id: 1))
    #expect(try archived(incoming("1", stanzaID: "s2", delayed: true), in: archive) == .recognised(id: 2))
    #expect(try archived(incoming("1", stanzaID: "s3", delayed: true), in: archive) == .inserted(id: 3))
    #expect(try archived(incoming("1", stanzaID: "s2", delayed: true), in: archive) == .duplicate)
    #expect(try row(1, in: archive)?.stanzaID == .init(id: "s1", by: bot))
    #expect(try row(2, in: archive)?.stanzaID == .init(id: "s2", by: bot))
    archive.close()
  }

  @Test("another text, id, sender or device is another message")
  func notTheSame() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(incoming("1"))
    var others = [incoming("1", "other"), incoming("2"), incoming("1"), incoming("1"), incoming("1")]
    others[2].peer = "eve@example.org"
    others[3].resource = "laptop"
    others[4].messageID = nil
    for (number, var other) in others.enumerated() {
      other.delay = start
      other.stanzaID = nil
      #expect(try archive.insertAndWait(other) == .inserted(id: Int64(2 + 2 * number)))
      other.stanzaID = .init(id: "s\(number)", by: bot)
      other.body? += "?"
      #expect(try archived(other, in: archive) == .inserted(id: Int64(3 + 2 * number)))
    }
    #expect(try row(1, in: archive)?.stanzaID == nil)
    archive.close()
  }

  @Test("two people in a room may say the same under the same id")
  func rooms() throws {
    let archive = try openArchive(folder)
    func said(by nick: String, stanzaID: String? = nil) -> NewMessage {
      var row = NewMessage(.in, .groupchat, peer: "room@example.org", time: start, body: "hi")
      row.room = "room@example.org"
      row.nick = nick
      row.messageID = "1"
      row.delay = start
      row.stanzaID = stanzaID.map { .init(id: $0, by: "room@example.org") }
      return row
    }
    #expect(try archive.insertAndWait(said(by: "alice")) == .inserted(id: 1))
    #expect(try archive.insertAndWait(said(by: "bob")) == .inserted(id: 2))
    #expect(try archive.insertAndWait(said(by: "bob")) == .duplicate)
    #expect(try archived(said(by: "bob", stanzaID: "s"), in: archive) == .recognised(id: 2))
    archive.close()
  }

  @Test(
    "a message of ours in the server's archive has arrived there: it is acknowledged, never set back",
    arguments: [
      (NewMessage.State.queued, NewMessage.State.acked), (.sent, .acked), (.acked, .acked), (.received, .received),
      (.displayed, .displayed), (.failed, .failed),
    ])
  func ownTwin(before: NewMessage.State, after: NewMessage.State) throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(own("o1", state: before))
    #expect(try archived(own("o1", stanzaID: "s1"), in: archive) == .recognised(id: 1))
    #expect(try row(1, in: archive)?.state == after)
    #expect(try row(1, in: archive)?.stanzaID == .init(id: "s1", by: bot))
    // Sent twice, so the server has it twice; it is one message all the same.
    #expect(try archived(own("o1", stanzaID: "s2"), in: archive) == .duplicate)
    #expect(try row(1, in: archive)?.stanzaID == .init(id: "s1", by: bot))
    archive.close()
  }

  @Test("a server that strips the origin-id leaves the stanza's own id, which is the same")
  func strippedOriginID() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(own("o1", state: .sent))
    var stripped = own("o1", stanzaID: "s1")
    stripped.originID = nil
    #expect(try archived(stripped, in: archive) == .recognised(id: 1))
    archive.close()
  }

  @Test("what another device of the account sent without an origin-id is known by its id and text")
  func otherDevice() throws {
    let archive = try openArchive(folder)
    var carbon = own("1")
    carbon.originID = nil
    try archive.insertAndWait(carbon)
    var other = carbon
    other.body = "other"
    other.stanzaID = .init(id: "s1", by: bot)
    #expect(try archived(other, in: archive) == .inserted(id: 2))
    carbon.stanzaID = .init(id: "s2", by: bot)
    #expect(try archived(carbon, in: archive) == .recognised(id: 1))
    archive.close()
  }

  @Test("a contact who copies our id is not taken for us")
  func copiedID() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(own("o1", state: .sent))
    var forged = incoming("o1", "pong", stanzaID: "s1")
    forged.originID = "o1"
    #expect(try archived(forged, in: archive) == .inserted(id: 2))
    #expect(try row(1, in: archive)?.state == .sent)
    archive.close()
  }

  @Test("what offline storage gives once more after a crash is a duplicate; what it gives first is not")
  func offline() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(incoming("1", stanzaID: "s1"))
    try archive.insertAndWait(incoming("2"))
    for id in ["1", "2"] { #expect(try archive.insertAndWait(incoming(id, delayed: true)) == .duplicate) }
    #expect(try archive.insertAndWait(incoming("3", delayed: true)) == .inserted(id: 3))
    #expect(try archive.insertAndWait(incoming("3", delayed: true)) == .duplicate)
    archive.close()
  }

  @Test("within one group, what came once more is known, but not from a write that was undone")
  func sameGroup() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(incoming("0"))
    // What each work inserts: id and whether it is delayed. The first fails behind its last.
    let works: [[(String, Bool)]] = [
      [("a", false), ("1", true)], [("b", false), ("1", true)], [("b", true)], [("1", true)],
    ]
    let gate = GroupCommitTests.Gate()
    gate.hold(archive)
    let outcomes = works.map { _ in Outcome<ArchiveTransaction.Insertion?>() }
    for (number, outcome) in outcomes.enumerated() {
      let rows = works[number].map { incoming($0.0, delayed: $0.1) }
      archive.write(
        { transaction throws(DatabaseError) in
          var last: ArchiveTransaction.Insertion?
          for row in rows { last = try transaction.insert(row) }
          if number == 0 { throw DatabaseError(code: .constraint, message: "refused", path: "", operation: "") }
          return last
        }, completion: outcome.set)
    }
    gate.release()
    #expect(
      outcomes.map { (try? $0.wait().get()) ?? nil } == [nil, .inserted(id: 3), .duplicate, .duplicate])
    archive.close()
  }

  @Test("a client that uses an id twice is not cut off: without a stamp, everything is new")
  func live() throws {
    let archive = try openArchive(folder)
    for number in 1...3 { #expect(try archive.insertAndWait(incoming("1")) == .inserted(id: Int64(number))) }
    archive.close()
  }

  @Test("the search goes back as far as it says and no further")
  func bounded() throws {
    let archive = try openArchive(folder)
    func fill(_ count: Int) throws {
      try archive.writeAndWait { transaction throws(DatabaseError) in
        for number in 0..<count { try transaction.insert(message("\(number)", peer: "bob@example.org")) }
      }
    }
    try archive.insertAndWait(incoming("1"))
    try archive.insertAndWait(incoming("2"))
    try fill(9_998)
    #expect(try archive.insertAndWait(incoming("1", delayed: true)) == .duplicate)
    #expect(try archived(incoming("2", stanzaID: "s2"), in: archive) == .recognised(id: 2))
    try fill(1)
    #expect(try archive.insertAndWait(incoming("1", delayed: true)) == .inserted(id: 10_002))
    #expect(try archived(incoming("1", stanzaID: "s1"), in: archive) == .recognised(id: 10_002))
    archive.close()
  }

  @Test("the newest messages of contacts are told, oldest first")
  func recent() throws {
    let archive = try openArchive(folder)
    for number in 1...5 { try archive.insertAndWait(incoming("\(number)", "text \(number)")) }
    try archive.insertAndWait(message("without an id"))
    try archive.insertAndWait(own("o1"))
    var said = NewMessage(.in, .groupchat, peer: "room@example.org", time: start, body: "hi")
    said.messageID = "g"
    try archive.insertAndWait(said)
    let recent = try archive.readAndWait { queries throws(DatabaseError) in try queries.recentIncoming(limit: 3) }
    #expect(
      recent
        == (3...5).map {
          RecentMessage(
            peer: "alice@example.org", resource: "phone", messageID: "\($0)", body: "text \($0)", time: start)
        })
    archive.close()
  }
}
