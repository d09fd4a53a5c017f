import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("A check of the archive")
struct CheckTests {
  private let folder = TemporaryFolder()

  private func check() throws -> ArchiveCheck { try ArchiveReader.open(path: folder.file("archive.db")).check() }

  private func fill(_ count: Int = 300) throws {
    let archive = try openArchive(folder)
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 1...count {
        try transaction.insert(message("number \(number) 北京 " + String(repeating: "x", count: 300)))
      }
      // Nothing that is indexed, which is no fault.
      try transaction.insert(message("🙂 …"))
      try transaction.insert(message(""))
    }
    archive.close()
  }

  @Test("a sound one, empty, filled, or in use with messages that are not indexed yet")
  func sound() throws {
    try openArchive(folder).close()
    #expect(try check() == ArchiveCheck())
    try fill()
    #expect(try check().isSound && check().messages == 302 && check().unindexed == 0)
    let archive = try openArchive(folder)
    try archive.insertAndWait(message("new"))
    let live = try check()
    #expect(live.isSound && live.messages == 303 && live.unindexed <= 1)
    archive.close()
  }

  @Test("an overwritten page, wherever it is, is seen")
  func pages() throws {
    try fill()
    let path = folder.file("archive.db")
    let whole = readFile(path)
    for page in stride(from: 1, to: whole.count / 4_096, by: 3) {
      var bytes = whole
      for index in page * 4_096..<page * 4_096 + 4_096 { bytes[index] = 0x55 }
      writeFile(path, bytes)
      let found = Result { try check() }
      switch found {
      case .success(let check): #expect(!check.isSound, "page \(page)")
      case .failure(let error): #expect((error as? ArchiveError)?.isFatal == true, "page \(page): \(error)")
      }
    }
  }

  @Test("a message that the full-text index lost is seen")
  func index() throws {
    try fill()
    let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
    try connection.transaction { () throws(DatabaseError) in
      try Indexer.remove(
        7, subject: nil, body: "number 7 北京 " + String(repeating: "x", count: 300),
        ArchiveTransaction(connection, group: GroupState()))
    }
    let found = try check()
    #expect(found.damage.isEmpty && found.indexDamage == ["1 messages are missing in the full-text index"])
  }

  @Test("a roster group of nobody is seen")
  func references() throws {
    try fill(1)
    let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
    try connection.execute("PRAGMA foreign_keys = OFF; INSERT INTO roster_group VALUES ('ghost@example.org', 'g')")
    #expect(try check().damage == ["a row of roster_group belongs to one of roster that is not there"])
  }

  @Test("a full-text index that can't be read is made anew by the archive itself, with nothing else lost")
  func rebuild() throws {
    try fill()
    do {
      let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
      // The engine's own tables are not to be written otherwise.
      connection.allowChangesOfShadowTables()
      try connection.execute("UPDATE message_text_data SET block = x'00' WHERE id > 10")
    }
    #expect(try !check().isSound)
    let notices = Monitor<[ArchiveNotice]>([])
    let archive = try Archive.open(path: folder.file("archive.db"), noticed: { n in notices.withLock { $0.append(n) } })
    {
      $0()
    }
    #expect(throws: ArchiveError.self) { try archive.search("number") }
    #expect(try archive.search("number 299").count == 1)
    #expect(notices.withLock { $0 } == [.indexRebuilt(path: archive.path)])
    archive.close()
    #expect(try check().isSound)
  }
}
