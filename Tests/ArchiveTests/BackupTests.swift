import Glibc
import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("A backup")
struct BackupTests {
  private let folder = TemporaryFolder()
  private let other = TemporaryFolder()

  private func backup(force: Bool = false, _ progress: (Int) -> Void = { _ in }) throws -> ArchiveCheck {
    try ArchiveBackup(to: other.file("copy.db"), replaces: force).make(
      of: folder.file("archive.db"), progress: progress)
  }

  private func fill(_ archive: Archive, _ count: Int) throws {
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 1...count { try transaction.insert(message("\(number) " + String(repeating: "word ", count: 400))) }
    }
  }

  @Test("of an archive in use holds all that was committed, is sound, and only its owner can read it")
  func inUse() throws {
    let archive = try openArchive(folder)
    try fill(archive, 100)
    #expect(try backup().messages == 100)
    var status = stat()
    #expect(stat(other.file("copy.db"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(other.files == ["copy.db"])
    archive.close()
    #expect(try ArchiveReader.open(path: other.file("copy.db")).check().isSound)
  }

  @Test("is of one moment, and messages go on while it is made")
  func consistent() throws {
    let archive = try openArchive(folder)
    try fill(archive, 5_000)
    var steps = 0
    let check = try backup { _ in
      steps += 1
      // The writer is not held up: each of these is committed before the copy goes on.
      _ = try? archive.insertAndWait(message("meanwhile"))
    }
    #expect(steps > 1)
    #expect(check.messages == 5_000 && check.isSound)
    #expect(try archive.readAndWait { queries throws(DatabaseError) in try queries.newestID() } == Int64(5_000 + steps))
    archive.close()
  }

  @Test("of an archive that nobody has open writes nothing beside it; it can be opened in the archive's place")
  func closed() throws {
    let archive = try openArchive(folder)
    try fill(archive, 10)
    archive.close()
    #expect(try backup().messages == 10)
    #expect(folder.files == ["archive.db"])
    let restored = try Archive.open(path: other.file("copy.db")) { $0() }
    #expect(try restored.insertAndWait(message("next")) == .inserted(id: 11))
    #expect(try restored.search("next") == ["next"])
    restored.close()
  }

  @Test("replaces a file only if told so, and never the archive itself or a folder")
  func refusals() throws {
    let archive = try openArchive(folder)
    try fill(archive, 1)
    writeFile(other.file("copy.db"), [1])
    #expect(throws: ArchiveError.self) { try backup() }
    #expect(readFile(other.file("copy.db")) == [1])
    #expect(try backup(force: true).messages == 1)
    #expect(throws: ArchiveError.self) {
      try ArchiveBackup(to: archive.path, replaces: true).make(of: archive.path)
    }
    #expect(throws: ArchiveError.self) { try ArchiveBackup(to: other.path, replaces: true).make(of: archive.path) }
    let missing = #expect(throws: ArchiveError.self) {
      try ArchiveBackup(to: "/nonexistent/copy.db", replaces: true).make(of: archive.path)
    }
    #expect(missing?.description.contains("/nonexistent/copy.db") == true)
    #expect(other.files == ["copy.db"])
    archive.close()
  }

  @Test("of a damaged archive fails, and leaves nothing that looks like one")
  func damaged() throws {
    let archive = try openArchive(folder)
    try fill(archive, 500)
    archive.close()
    var bytes = readFile(archive.path)
    for index in bytes.count / 2..<bytes.count / 2 + 8_192 { bytes[index] = 0x55 }
    writeFile(archive.path, bytes)
    #expect(throws: ArchiveError.self) { try backup() }
    #expect(other.files.isEmpty)
  }
}
