import Glibc
import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Group commit")
struct GroupCommitTests {
  let folder = TemporaryFolder()

  /// Stops the database's thread inside a write until released, so that what is handed in meanwhile becomes one group.
  final class Gate: Sendable {
    private let isOpen = Monitor(false)
    func hold(_ archive: Archive) {
      archive.write({ _ in self.isOpen.wait(until: nil, for: { $0 }, { _ in }) }, completion: { _ in })
    }
    func release() {
      isOpen.signal {
        $0 = true
        return true
      }
    }
  }

  @Test("writes complete in the order in which they were handed in, ids ascend")
  func order() throws {
    let archive = try openArchive(folder)
    let done = Monitor<[Int64]>([])
    for number in 1...2_000 {
      archive.write(
        { transaction throws(DatabaseError) in try transaction.insert(message("\(number)")) },
        completion: { result in
          guard case .success(.inserted(let id)) = result else { return }
          done.signal {
            $0.append(id)
            return true
          }
        })
    }
    let ids = done.wait(until: nil, for: { $0.count == 2_000 }, { $0 })
    #expect(ids == Array(1...2_000))
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == (1...2_000).map(String.init))
  }

  @Test("when a write completes, another connection sees its row")
  func completionAfterCommit() throws {
    let archive = try openArchive(folder)
    let outcome = Outcome<Int64>()
    archive.write(
      { transaction throws(DatabaseError) in try transaction.insert(message("seen")) },
      completion: { [path = archive.path] _ in
        do throws(DatabaseError) {
          let other = try Connection(path: path, access: .readOnly)
          outcome.set(.success(try other.integer("SELECT count(*) FROM message WHERE body = 'seen'")))
        } catch {
          outcome.set(.failure(.failed(error)))
        }
      })
    #expect(try outcome.wait().get() == 1)
    archive.close()
  }

  @Test("what waits while the thread is busy is delivered at once")
  func oneDeliveryAGroup() throws {
    let deliveries = Monitor(0)
    let archive = try Archive.open(path: folder.file("archive.db")) { completions in
      deliveries.withLock { $0 += 1 }
      completions()
    }
    let gate = Gate()
    gate.hold(archive)
    let last = Outcome<Void>()
    for number in 1...200 {
      archive.write(
        { transaction throws(DatabaseError) in _ = try transaction.insert(message("\(number)")) },
        completion: { if number == 200 { last.set($0) } })
    }
    gate.release()
    try last.wait().get()
    // One for the write that held the thread, one for the rest; three if the thread had not begun with it yet.
    #expect(deliveries.withLock { $0 } <= 3)
    archive.close()
  }

  @Test("a write that throws is undone alone, whatever it had changed before")
  func oneThrows() throws {
    let archive = try openArchive(folder)
    let gate = Gate()
    gate.hold(archive)
    let outcomes = (0..<6).map { _ in Outcome<Void>() }
    for (number, outcome) in outcomes.enumerated() {
      archive.write(
        { transaction throws(DatabaseError) in
          try transaction.insert(message("\(number)"))
          if number == 2 || number == 4 {
            throw DatabaseError(code: .constraint, message: "refused", path: "", operation: "")
          }
        }, completion: outcome.set)
    }
    gate.release()
    let results = outcomes.map { $0.wait() }
    archive.close()
    #expect(results.map { (try? $0.get()) != nil } == [true, true, false, true, false, true])
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["0", "1", "3", "5"])
  }

  @Test("a write that throws before it has changed anything makes no other run twice")
  func throwsWithoutChanges() throws {
    let archive = try openArchive(folder)
    let gate = Gate()
    gate.hold(archive)
    let runs = Monitor(0)
    let good = Outcome<Void>()
    let bad = Outcome<Void>()
    archive.write(
      { transaction throws(DatabaseError) in
        runs.withLock { $0 += 1 }
        try transaction.insert(message("good"))
      }, completion: good.set)
    archive.write(
      { _ throws(DatabaseError) in
        throw DatabaseError(code: .constraint, message: "refused", path: "", operation: "")
      }, completion: bad.set)
    gate.release()
    try good.wait().get()
    #expect(throws: ArchiveError.self) { try bad.wait().get() }
    archive.close()
    #expect(runs.withLock { $0 } == 1)
  }

  @Test("after a full disk nothing of the group is there, and when there is room again writing goes on")
  func fullDisk() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(message("before"))
    let pages = try archive.readAndWait { queries throws(DatabaseError) in
      try queries.limitPages(to: 1)  // never below what the file has
    }
    let big = String(repeating: "x", count: 1_000_000)
    let gate = Gate()
    gate.hold(archive)
    let outcomes = [Outcome<Void>(), Outcome<Void>()]
    for (body, outcome) in zip(["small", big], outcomes) {
      archive.write(
        { transaction throws(DatabaseError) in _ = try transaction.insert(message(body)) }, completion: outcome.set)
    }
    gate.release()
    for outcome in outcomes {
      let error = #expect(throws: ArchiveError.self) { try outcome.wait().get() }
      guard case .diskFull? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(error?.isFatal == false)
    }
    _ = try archive.readAndWait { queries throws(DatabaseError) in try queries.limitPages(to: pages + 10_000) }
    try archive.insertAndWait(message(big))
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["before", big])
  }

  @Test("after close, writes and reads are answered with an error")
  func closed() throws {
    let archive = try openArchive(folder)
    archive.close()
    archive.close()
    #expect(throws: ArchiveError.closed) { try archive.insertAndWait(message("late")) }
    #expect(throws: ArchiveError.closed) {
      try archive.readAndWait { queries throws(DatabaseError) in try queries.newestID() }
    }
  }

  @Test("close finishes everything that was handed in, and leaves one whole file")
  func closeDrains() throws {
    let archive = try openArchive(folder)
    for number in 1...3_000 {
      archive.write(
        { transaction throws(DatabaseError) in _ = try transaction.insert(message("word\(number)")) },
        completion: { _ in })
    }
    archive.close()
    #expect(folder.files == ["archive.db"])
    let reader = try ArchiveReader.open(path: archive.path)
    let statistics = try reader.statistics()
    #expect(statistics.count == 3_000)
    #expect(statistics.unindexed == 0)
    #expect(try reader.search("word2999") == ["word2999"])
  }

  @Test("an archive that nobody holds any more ends its thread and gives up the file")
  func dropped() throws {
    do { _ = try openArchive(folder) }
    // The lock is given up when the thread ends; until then a second opening is refused.
    var second: Archive?
    while second == nil {
      do throws(ArchiveError) {
        second = try openArchive(folder)
      } catch {
        guard case .inUse = error else { throw error }
        sched_yield()
      }
    }
    second?.close()
  }
}

extension ArchiveQueries {
  /// Makes the file full at `pages`, but never below what it has; answers how many it has.
  fileprivate borrowing func limitPages(to pages: Int) throws(DatabaseError) -> Int {
    try connection.setPragma("max_page_count", to: pages)
    return Int(try connection.integer("PRAGMA page_count"))
  }
}
