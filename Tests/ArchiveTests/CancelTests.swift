import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Reads that end early")
struct CancelTests {
  let folder = TemporaryFolder()

  /// A read that goes on until the test ends.
  private struct Endless: SlicedRead {
    struct Progress {
      var slices = 0
      var isOver = false
    }
    let progress: Monitor<Progress>

    var needsIndex: Bool { false }

    func advance(_ queries: borrowing ArchiveQueries) -> Int? {
      var isOver = false
      progress.signal {
        $0.slices += 1
        isOver = $0.isOver
        return true
      }
      return isOver ? 0 : nil
    }
  }

  @Test("a read that nobody waits for any longer is not gone on with, and not told of")
  func cancelled() throws {
    let archive = try openArchive(folder)
    defer { archive.close() }
    let progress = Monitor(Endless.Progress())
    // Whatever comes of this, the archive can be closed.
    defer { progress.withLock { $0.isOver = true } }
    let told = Monitor(false)
    let read = archive.read(Endless(progress: progress)) { _ in told.withLock { $0 = true } }
    progress.wait(until: nil, for: { $0.slices > 2 }, { _ in })
    read.cancel()
    // Who asks after that is answered in a turn that knows of it.
    func newest() throws { _ = try archive.readAndWait { queries throws(DatabaseError) in try queries.newestID() } }
    try newest()
    let slices = progress.withLock { $0.slices }
    try newest()
    try newest()
    #expect(progress.withLock { $0.slices } == slices)
    #expect(!told.withLock { $0 })
    read.cancel()
    try newest()
  }

  @Test("a read that was given up before the thread saw it is not begun, and the others go on")
  func early() throws {
    let archive = try openArchive(folder)
    defer { archive.close() }
    let progress = Monitor(Endless.Progress(isOver: true))
    let isOpen = Monitor(false)
    archive.write({ _ in isOpen.wait(until: nil, for: { $0 }, { _ in }) }, completion: { _ in })
    archive.read(Endless(progress: progress)) { _ in }.cancel()
    let other = Outcome<Int>()
    archive.read(Endless(progress: progress), completion: other.set)
    isOpen.signal {
      $0 = true
      return true
    }
    #expect(try other.wait().get() == 0)
    #expect(progress.withLock { $0.slices } == 1)
  }

  @Test("a page that may look at so many candidates ends there, and says that there are more")
  func candidates() throws {
    let archive = try openArchive(folder)
    defer { archive.close() }
    try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 0..<1_200 {
        try transaction.insert(message("ping \(number)", peer: number == 0 ? "a@example.org" : "b@example.org"))
      }
    }
    let cursor = SearchCursor(try SearchQuery("ping"), MessageFilter(peer: "a@example.org"), limit: 10)
    let part = try archive.readAndWait(PageRead(cursor, size: 10, lookingAt: 1_000))
    #expect(part.rows.isEmpty && part.next != nil)
    let whole = try archive.readAndWait(PageRead(cursor, size: 10, lookingAt: 5_000))
    #expect(whole.rows.compactMap(\.body) == ["ping 0"] && whole.next == nil)
  }
}
