import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Messages on their way out")
struct OutboxTests {
  let folder = TemporaryFolder()
  let alice = "alice@example.org"
  static let states: [NewMessage.State] = [.queued, .sent, .acked, .received, .displayed, .failed]

  /// One message in each state, whose id is the state's name.
  func fill(_ archive: Archive) throws {
    try archive.writeAndWait { [alice] transaction throws(DatabaseError) in
      for state in Self.states {
        var row = NewMessage(.out, .chat, peer: alice, time: start, body: "text", state: state)
        row.originID = state.rawValue
        try transaction.insert(row)
      }
      var row = message("from a contact who copies our ids")
      row.originID = "sent"
      try transaction.insert(row)
    }
  }

  func states(_ archive: Archive) throws -> [NewMessage.State] {
    try archive.readAndWait { queries throws(DatabaseError) in
      var states: [NewMessage.State] = []
      for id in 1...Int64(Self.states.count) {
        if let row = try queries.message(id: id) { states.append(row.state) }
      }
      return states
    }
  }

  @Test("what the server has is acknowledged; what has come further, or failed, stays so")
  func acknowledge() throws {
    let archive = try openArchive(folder)
    try fill(archive)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.acknowledge(Self.states.map(\.rawValue) + ["unknown"])
    }
    #expect(try states(archive) == [.acked, .acked, .acked, .received, .displayed, .failed])
    let (queued, sent) = try archive.readAndWait { queries throws(DatabaseError) in
      (try queries.queuedCount(), try queries.sentCount())
    }
    #expect(queued == 0)
    #expect(sent == 0)
    archive.close()
  }

  @Test("a receipt moves a message on, never back, and tells whether it did")
  func receipts() throws {
    let archive = try openArchive(folder)
    try fill(archive)
    func advance(to state: NewMessage.State, peer: String) throws -> [Bool] {
      try archive.writeAndWait { transaction throws(DatabaseError) in
        var moved: [Bool] = []
        for id in Self.states { moved.append(try transaction.advance(id.rawValue, peer: peer, to: state)) }
        return moved
      }
    }
    #expect(try advance(to: .received, peer: alice) == [true, true, true, false, false, false])
    #expect(try states(archive) == [.received, .received, .received, .received, .displayed, .failed])
    #expect(try advance(to: .displayed, peer: alice) == [true, true, true, true, false, false])
    #expect(try advance(to: .received, peer: alice) == [false, false, false, false, false, false])
    #expect(try states(archive) == [.displayed, .displayed, .displayed, .displayed, .displayed, .failed])
    archive.close()
  }

  @Test("nobody can say for another that a message was received, or make it anything else")
  func forgedReceipts() throws {
    let archive = try openArchive(folder)
    try fill(archive)
    let moved = try archive.writeAndWait { [alice] transaction throws(DatabaseError) in
      var moved: [Bool] = []
      for id in Self.states {
        moved.append(try transaction.advance(id.rawValue, peer: "eve@example.org", to: .received))
      }
      for state in [.queued, .sent, .acked, .failed] as [NewMessage.State] {
        moved.append(try transaction.advance("acked", peer: alice, to: state))
      }
      return moved
    }
    #expect(!moved.contains(true))
    #expect(try states(archive) == Self.states)
    archive.close()
  }

  @Test("what was sent and not acknowledged waits again, in the order in which it was accepted")
  func requeue() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [alice] transaction throws(DatabaseError) in
      // Ids that don't ascend, since the queue's order must not come from them.
      for (number, state) in [.sent, .queued, .acked, .sent, .queued, .sent].enumerated()
        as EnumeratedSequence<[NewMessage.State]>
      {
        var row = NewMessage(.out, .chat, peer: alice, time: start, body: "\(number)", state: state)
        row.originID = "id\(9 - number)"
        try transaction.insert(row)
      }
      try transaction.insert(message("in"))
    }
    let counts = try archive.readAndWait { queries throws(DatabaseError) in
      [try queries.sentCount(), try queries.queuedCount()]
    }
    #expect(counts == [3, 2])
    #expect(try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.requeueSent() } == 5)
    let queued = try archive.readAndWait { queries throws(DatabaseError) in
      (try queries.queued(limit: 10), try queries.sentCount())
    }
    #expect(queued.0.map(\.body) == ["0", "1", "3", "4", "5"])
    #expect(queued.0.first?.originID == "id9")
    #expect(queued.1 == 0)
    archive.close()
  }

  @Test("a message that was not sent after all waits again, and one that came back has failed")
  func requeueOneAndFail() throws {
    let archive = try openArchive(folder)
    try fill(archive)
    let failed = try archive.writeAndWait { [alice] transaction throws(DatabaseError) in
      for state in Self.states where state != .queued { try transaction.requeue(messageID: state.rawValue) }
      return [
        try transaction.fail(messageID: "acked", peer: "eve@example.org", error: "no"),
        try transaction.fail(messageID: "acked", peer: alice, error: "gone"),
        try transaction.fail(messageID: "displayed", peer: alice, error: "gone"),
      ]
    }
    #expect(failed == [false, true, false])
    #expect(try states(archive) == [.queued, .queued, .failed, .received, .displayed, .failed])
    archive.close()
  }

  @Test("messages on their way out share one page of the index of our own, however many there are")
  func pages() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [alice] transaction throws(DatabaseError) in
      for number in 0..<5_000 {
        var row = NewMessage(.out, .chat, peer: alice, time: start, body: "text", state: .acked)
        row.originID = "\(number * 7_919 % 5_003)"
        try transaction.insert(row)
      }
    }
    archive.close()
    let connection = try Connection(path: archive.path, access: .readWrite)
    try connection.useWAL(sizeLimit: 1_000_000)
    try connection.transaction { () throws(DatabaseError) in
      for number in 1...9 {
        let insert = try connection.statement(
          """
          INSERT INTO message (time, direction, kind, state, peer, body, origin_id)
          VALUES (1, 'out', 'chat', 'sent', 'alice@example.org', 'text', ?)
          """)
        try insert.bind("\(number)500", at: 1)
        try insert.run()
      }
    }
    // The table, its counter, message_peer and message_out; one of them may be full, which makes two more.
    #expect(connection.walPages <= 6)
  }
}
