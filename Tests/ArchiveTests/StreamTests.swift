import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("What is known of the stream and of the archives")
struct StreamTests {
  let folder = TemporaryFolder()
  let bot = "bot@example.org"
  let record = StreamRecord(
    id: "some-long-sm-id", jid: "bot@example.org/r", location: "[2001:db8::1]:5222", handled: .max,
    sent: .init(count: .max, last: "id of ours"), trustsIDs: true)

  func progress(_ archive: Archive) throws -> (record: StreamRecord?, cursor: String?) {
    try archive.readAndWait { [bot] queries throws(DatabaseError) in
      (try queries.streamRecord(), try queries.cursor(of: bot))
    }
  }

  /// The files as a kill would leave them.
  func crash() -> TemporaryFolder {
    let after = TemporaryFolder()
    for name in ["archive.db", "archive.db-wal"] { writeFile(after.file(name), readFile(folder.file(name))) }
    return after
  }

  @Test("a session is remembered, replaced and forgotten")
  func remembers() throws {
    let archive = try openArchive(folder)
    #expect(try progress(archive).record == nil)
    let other = StreamRecord(id: "2", jid: "bot@example.org/s", handled: 7, sent: nil, trustsIDs: false)
    for next in [record, other, nil, record] as [StreamRecord?] {
      try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.setStream(next) }
      #expect(try progress(archive).record == next)
    }
    archive.close()
    let again = try openArchive(folder)
    #expect(try progress(again).record == record)
    again.close()
  }

  @Test("what was sent on a stream is noted with the rows, and is acknowledged as a whole; another stream knows nothing of it")
  func sent() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in
      try transaction.setStream(record)
      for id in ["a", "b", "c"] {
        var row = message(id)
        row.direction = .out
        row.state = .sent
        row.originID = id
        try transaction.insert(row)
      }
      transaction.noteSent(.init(count: 7, last: "b"))
    }
    #expect(try progress(archive).record?.sent == .init(count: 7, last: "b"))
    try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.acknowledge(upTo: "b") }
    let states = try archive.readAndWait { queries throws(DatabaseError) in
      var states: [NewMessage.State?] = []
      for id in 1...3 as ClosedRange<Int64> { states.append(try queries.message(id: id)?.state) }
      return states
    }
    #expect(states == [.acked, .acked, .sent])
    let other = StreamRecord(id: "2", jid: "bot@example.org/s", trustsIDs: false)
    try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.setStream(other) }
    #expect(try progress(archive).record == other)
    archive.close()
  }

  @Test("there is never more than one session")
  func oneRow() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in try transaction.setStream(record) }
    #expect(throws: ArchiveError.self) {
      try archive.writeAndWait { transaction throws(DatabaseError) in
        try transaction.statement(
          "INSERT INTO stream (id, jid, trusts_ids, one_row) VALUES ('2', 'bot@example.org/r', 0, 2)"
        ).run()
      }
    }
    archive.close()
  }

  @Test("a count without a session is dropped; a cursor is not")
  func countWithoutSession() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [bot] transaction throws(DatabaseError) in
      transaction.noteHandled(5)
      transaction.noteCursor("", of: bot)
    }
    #expect(try progress(archive) == (nil, ""))
    archive.close()
  }

  @Test("each archive has its own cursor, and the last note of a group counts")
  func cursors() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [bot] transaction throws(DatabaseError) in
      transaction.noteCursor("a", of: bot)
      transaction.noteCursor("1", of: "room@example.org")
      transaction.noteCursor("b", of: bot)
    }
    try archive.writeAndWait { transaction throws(DatabaseError) in
      transaction.noteCursor("2", of: "room@example.org")
    }
    #expect(try progress(archive).cursor == "b")
    let (room, other) = try archive.readAndWait { queries throws(DatabaseError) in
      (try queries.cursor(of: "room@example.org"), try queries.cursor(of: "other@example.org"))
    }
    #expect(room == "2")
    #expect(other == nil)
    archive.close()
  }

  @Test("after a crash between two writes, rows and count are of the same moment")
  func sameMoment() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in
      var fresh = record
      fresh.handled = 0
      try transaction.setStream(fresh)
    }
    for number in 1...5 as ClosedRange<UInt32> {
      try archive.writeAndWait { [bot] transaction throws(DatabaseError) in
        try transaction.insert(message("\(number)"))
        transaction.noteHandled(number)
        transaction.noteCursor("s\(number)", of: bot)
      }
      let reopened = try openArchive(crash())
      let (record, cursor) = try progress(reopened)
      #expect(record?.handled == number)
      #expect(cursor == "s\(number)")
      #expect(try reopened.readAndWait { queries throws(DatabaseError) in try queries.newestID() } == Int64(number))
      reopened.close()
    }
    archive.close()
  }

  @Test("nobody sees a row without its count")
  func sameTransaction() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in try transaction.setStream(record) }
    let outcome = Outcome<[Int64]>()
    archive.write(
      { transaction throws(DatabaseError) in
        try transaction.insert(message("1"))
        transaction.noteHandled(1)
      },
      completion: { [path = archive.path] _ in
        do throws(DatabaseError) {
          let other = try Connection(path: path, access: .readOnly)
          outcome.set(
            .success([
              try other.integer("SELECT count(*) FROM message"),
              try other.integer("SELECT position FROM progress WHERE source = ''"),
            ]))
        } catch {
          outcome.set(.failure(.failed(error)))
        }
      })
    #expect(try outcome.wait().get() == [1, 1])
    archive.close()
  }

  @Test(
    "a write that throws leaves no note, whether its group starts again or not", arguments: [true, false])
  func failedWrite(changesSomething: Bool) throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in try transaction.setStream(record) }
    let gate = GroupCommitTests.Gate()
    gate.hold(archive)
    let outcomes = (0..<3).map { _ in Outcome<Void>() }
    for (number, outcome) in outcomes.enumerated() {
      archive.write(
        { [bot] transaction throws(DatabaseError) in
          // The first two leave a count; the second, which throws, and the third a cursor.
          if number < 2 { transaction.noteHandled(UInt32(10 + number)) }
          if number != 0 { transaction.noteCursor("c\(number)", of: number == 1 ? "lost@example.org" : bot) }
          if number != 1 || changesSomething { try transaction.insert(message("\(number)")) }
          if number == 1 { throw DatabaseError(code: .constraint, message: "refused", path: "", operation: "") }
        }, completion: outcome.set)
    }
    gate.release()
    #expect(outcomes.map { (try? $0.wait().get()) != nil } == [true, false, true])
    let (record, cursor) = try progress(archive)
    #expect(record?.handled == 10)
    #expect(cursor == "c2")
    #expect(
      try archive.readAndWait { queries throws(DatabaseError) in try queries.cursor(of: "lost@example.org") } == nil)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["0", "2"])
  }

  @Test("a new session is not given the count of the one before, noted in the same group")
  func newSession() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in try transaction.setStream(record) }
    let fresh = StreamRecord(id: "new", jid: "bot@example.org/r", handled: 0, trustsIDs: false)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      transaction.noteHandled(100)
      try transaction.setStream(fresh)
    }
    #expect(try progress(archive).record == fresh)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.setStream(fresh)
      transaction.noteHandled(3)
    }
    #expect(try progress(archive).record?.handled == 3)
    archive.close()
  }

  @Test("a new session whose write throws leaves the old one with its count")
  func newSessionFails() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [record] transaction throws(DatabaseError) in try transaction.setStream(record) }
    let gate = GroupCommitTests.Gate()
    gate.hold(archive)
    let good = Outcome<Void>()
    let bad = Outcome<Void>()
    archive.write({ transaction throws(DatabaseError) in transaction.noteHandled(100) }, completion: good.set)
    archive.write(
      { transaction throws(DatabaseError) in
        try transaction.setStream(nil)
        throw DatabaseError(code: .constraint, message: "refused", path: "", operation: "")
      }, completion: bad.set)
    gate.release()
    try good.wait().get()
    #expect(throws: ArchiveError.self) { try bad.wait().get() }
    var expected = record
    expected.handled = 100
    #expect(try progress(archive).record == expected)
    archive.close()
  }
}
