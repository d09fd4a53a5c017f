import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Old messages are deleted")
struct PruneTests {
  private let folder = TemporaryFolder()

  private func prune(_ archive: Archive, before: Int64) throws -> Prune {
    let outcome = Outcome<Prune>()
    archive.prune(Prune(before: before), completion: outcome.set)
    return try outcome.wait().get()
  }

  /// Message `number` was received so many seconds after the start.
  private func fill(_ archive: Archive, _ count: Int, body: @escaping @Sendable (Int) -> String = { "number \($0)" })
    throws
  {
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 1...count {
        var row = message(body(number))
        row.time = start + Int64(number) * 1_000_000
        try transaction.insert(row)
      }
    }
  }

  @Test("those before a moment go, from the table and from the full-text index, and the rest is found as before")
  func basics() throws {
    let archive = try openArchive(folder)
    try fill(archive, 1_000) { "北京 number \($0) Grüße" }
    #expect(try archive.search("number").count == 1_000)
    let done = try prune(archive, before: start + 900 * 1_000_000)
    #expect(done.deleted == 899 && done.kept == 0 && done.isDone)
    #expect(try archive.search("number").count == 101)
    #expect(try archive.search("京 grusse").count == 101)
    #expect(try archive.search("899").isEmpty && archive.search("900").count == 1)
    archive.close()
    let check = try ArchiveReader.open(path: archive.path).check()
    #expect(check.isSound && check.messages == 101, "\(check)")
  }

  @Test("what is not yet in the index is deleted as well, and never gets in")
  func unindexed() throws {
    let archive = try openArchive(folder)
    // Before the index is filled, which begins when it has been quiet for a moment.
    let outcome = Outcome<Prune>()
    archive.write { transaction throws(DatabaseError) in
      for number in 1...10 { try transaction.insert(message("early \(number)")) }
    } completion: { _ in
    }
    archive.prune(Prune(before: start + 1), completion: outcome.set)
    #expect(try outcome.wait().get().deleted == 10)
    try archive.insertAndWait(message("late"))
    #expect(try archive.search("early").isEmpty)
    #expect(try archive.search("late") == ["late"])
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).check().isSound)
  }

  @Test("what waits to be sent stays, however old it is")
  func waiting() throws {
    let archive = try openArchive(folder)
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for state in [NewMessage.State.queued, .sent, .acked, .received, .displayed, .failed] {
        try transaction.insert(
          NewMessage(.out, .chat, peer: "alice@example.org", time: start, body: state.rawValue, state: state))
      }
    }
    let done = try prune(archive, before: start + 1)
    #expect(done.deleted == 4 && done.kept == 2)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["queued", "sent"])
  }

  @Test("what a command has not yet answered stays; what it has answered goes with its line in the ledger")
  func commands() throws {
    let archive = try openArchive(folder)
    try fill(archive, 3)
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.connection.execute(
        """
        INSERT INTO command (message, name, started) VALUES (1, 'slow', 0);
        INSERT INTO command (message, name, started, finished, outcome) VALUES (2, 'fast', 0, 1, 'done');
        """)
    }
    let done = try prune(archive, before: .max)
    #expect(done.deleted == 2 && done.kept == 1)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["number 1"])
    #expect(try ArchiveReader.open(path: archive.path).check().isSound)
  }

  @Test("a message is served between two steps, and the deletion can be ended there")
  func steps() throws {
    let archive = try openArchive(folder)
    try fill(archive, 450)
    let steps = Monitor(0)
    let outcome = Outcome<Prune>()
    archive.prune(Prune(before: .max)) { prune in
      archive.write { transaction throws(DatabaseError) in
        try transaction.insert(NewMessage(.in, .chat, peer: "a@b", time: .max, body: "between"))
      } completion: { _ in
      }
      return steps.withLock {
        $0 += 1
        return $0 < 3
      }
    } completion: {
      outcome.set($0)
    }
    let done = try outcome.wait().get()
    #expect(done.deleted == 300 && !done.isDone)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies().count == 153)
  }

  @Test("ids are never given again, even when all messages are gone")
  func ids() throws {
    let archive = try openArchive(folder)
    try fill(archive, 5)
    #expect(try prune(archive, before: .max).deleted == 5)
    #expect(try archive.insertAndWait(message("next")) == .inserted(id: 6))
    #expect(try archive.search("next") == ["next"])
    archive.close()
  }

  @Test("a message with an odd time among others is judged by its own")
  func oddTimes() throws {
    let archive = try openArchive(folder)
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for offset: Int64 in [100, 0, 100, 0] {
        try transaction.insert(NewMessage(.in, .chat, peer: "a@b", time: start + offset, body: "\(offset)"))
      }
    }
    #expect(try prune(archive, before: start + 50).deleted == 2)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["100", "100"])
  }
}
