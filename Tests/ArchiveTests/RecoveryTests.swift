import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("A damaged archive is recovered")
struct RecoveryTests {
  private let folder = TemporaryFolder()

  @Test("all messages but those on the damaged pages are there, and the damaged file stays as it is")
  func pages() throws {
    let archive = try openArchive(folder)
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 1...3_000 { try transaction.insert(message("\(number) " + String(repeating: "x", count: 300))) }
      try transaction.upsertRoster(RosterEntry(jid: "alice@example.org"))
    }
    archive.close()
    var bytes = readFile(archive.path)
    for page in [bytes.count / 4_096 / 3, bytes.count / 4_096 / 2] {
      for index in page * 4_096..<page * 4_096 + 4_096 { bytes[index] = 0x55 }
    }
    writeFile(archive.path, bytes)

    let found = try Recovery.run(from: archive.path, to: folder.file("new.db"))
    #expect(found.messages > 2_900 && found.messages + found.unreadable == 3_000 && found.lost.isEmpty, "\(found)")
    #expect(readFile(archive.path) == bytes)
    #expect(folder.files == ["archive.db", "new.db"])
    let new = try Archive.open(path: folder.file("new.db")) { $0() }
    #expect(try new.insertAndWait(message("next")) == .inserted(id: 3_001))
    #expect(try new.search("2999").count == 1)
    new.close()
    #expect(try ArchiveReader.open(path: new.path).check().isSound)
    #expect(throws: ArchiveError.self) { try Recovery.run(from: archive.path, to: new.path) }
  }

  @Test("of a file without its first page nothing is found, and that is said")
  func nothing() throws {
    writeFile(folder.file("archive.db"), [UInt8](repeating: 0x55, count: 40_960))
    #expect(throws: ArchiveError.self) { try Recovery.run(from: folder.file("archive.db"), to: folder.file("new.db")) }
    #expect(folder.files == ["archive.db"])
  }
}
