import Glibc
import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("The log, while somebody reads")
struct LogTests {
  private let folder = TemporaryFolder()

  private func size(_ ending: String) -> Int {
    var status = stat()
    return stat(folder.file("archive.db" + ending), &status) == 0 ? status.st_size : 0
  }

  @Test("a forgotten transaction is told of once; when it ends, the log is cut by itself, and writing never waited")
  func forgotten() throws {
    let notices = Monitor<[ArchiveNotice]>([])
    var options = ArchiveOptions()
    options.checkpoints = CheckpointPolicy(bound: 3_000)
    let archive = try Archive.open(
      path: folder.file("archive.db"), options: options,
      noticed: { notice in
        notices.signal {
          $0.append(notice)
          return true
        }
      }
    ) { $0() }
    try archive.insertAndWait(message("first"))
    let other = try Connection(path: archive.path, access: .readOnly)
    try other.execute("BEGIN; SELECT count(*) FROM message;")
    let body = String(repeating: "x", count: 20_000)
    for _ in 1...1_000 { try archive.insertAndWait(message(body)) }
    let held = notices.withLock { $0 }
    #expect(held.count == 1)
    guard case .logHeld(archive.path, let bytes, _)? = held.first else {
      Issue.record("\(held)")
      return
    }
    #expect(bytes > 3_000 * 4_096)
    #expect(held.first?.description.contains("fuser -v \(archive.path)-wal") == true)
    #expect(size("-wal") > 20_000_000)

    // Nothing is written any more: the daemon looks again by itself.
    try other.execute("COMMIT")
    notices.wait(until: nil, for: { $0.count == 2 }, { #expect($0.last?.description.contains("could be cut") == true) })
    #expect(size("-wal") == 0)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).check().messages == 1_001)
  }

  @Test("reads of our own go in slices and never hold the log")
  func ownReads() throws {
    let archive = try openArchive(folder)
    for _ in 0..<40 {
      _ = try archive.writeAndWait { transaction throws(DatabaseError) in
        for _ in 0..<100 { try transaction.insert(message(String(repeating: "word ", count: 200))) }
      }
    }
    let export = Outcome<MessagePage<ExportCursor>>()
    archive.read(PageRead(ExportCursor(), size: .max), completion: export.set)
    for _ in 0..<40 {
      _ = try archive.writeAndWait { transaction throws(DatabaseError) in
        for _ in 0..<100 { try transaction.insert(message(String(repeating: "word ", count: 200))) }
      }
    }
    _ = try export.wait().get()
    // Twice the step at which it is moved, and what one group may add.
    #expect(size("-wal") < 3 * CheckpointPolicy().step * 4_152)
    archive.close()
  }
}
