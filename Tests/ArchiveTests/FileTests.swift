@testable import Archive
import Glibc
import SQLite
import TestSupport
import Testing

@Suite("The archive's file")
struct FileTests {
  let folder = TemporaryFolder()

  func expectError(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) -> ArchiveError? {
    #expect(throws: ArchiveError.self, sourceLocation: sourceLocation) { try Archive.open(path: path) { $0() } }
  }

  func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test("only its owner can read it; a missing folder is made")
  func modes() throws {
    let inner = folder.file("state")
    let archive = try Archive.open(path: inner + "/archive.db") { $0() }
    try archive.insertAndWait(message("secret"))
    for name in ["", "-wal", "-shm"] { #expect(mode(inner + "/archive.db" + name) == 0o600) }
    #expect(mode(inner) == 0o700)
    archive.close()
    unlink(inner + "/archive.db")
    rmdir(inner)
  }

  @Test("a folder whose parent is missing, or that is a file, is named in the error")
  func folders() {
    let missing = expectError(folder.file("a/b/archive.db"))
    #expect(missing?.description.contains(folder.file("a/b")) == true)
    writeFile(folder.file("file"), [])
    let file = expectError(folder.file("file") + "/archive.db")
    #expect(file?.description.contains("is not a folder") == true)
    #expect(expectError(folder.path)?.description.contains(folder.path) == true)
  }

  @Test(
    "a folder that can't be written is an error that says what to do",
    .enabled(if: geteuid() != 0, "root may write anywhere"))
  func unwritable() {
    chmod(folder.path, 0o500)
    defer { chmod(folder.path, 0o700) }
    #expect(expectError(folder.file("archive.db"))?.description.contains("[archive] path") == true)
  }

  @Test(
    "a file that is removed, moved or replaced while it is in use is noticed with the next write, which is not claimed")
  func moved() throws {
    let path = folder.file("archive.db")
    let ways: [() -> Void] = [
      { unlink(path) },
      { rename(path, folder.file("elsewhere.db")) },
      {
        writeFile(folder.file("other"), [])
        rename(folder.file("other"), path)
      },
    ]
    for takeAway in ways {
      let archive = try openArchive(folder)
      try archive.insertAndWait(message("stored"))
      takeAway()
      #expect(throws: ArchiveError.moved(path: path)) { try archive.insertAndWait(message("late")) }
      #expect(throws: ArchiveError.moved(path: path)) { try archive.insertAndWait(message("later")) }
      archive.close()
      // Nothing is left in a log that another file of this name would take for its own.
      #expect(sizeOfFile(path + "-wal") == 0)
      unlink(path)
    }
    #expect(try ArchiveReader.open(path: folder.file("elsewhere.db")).bodies().first == "stored")
  }

  @Test("every older schema is brought up to date", arguments: [0])
  func migrates(from version: Int) throws {
    do {
      let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
      try connection.setPragma("user_version", to: version)
    }
    let archive = try openArchive(folder)
    try archive.insertAndWait(message("x"))
    archive.close()
    let connection = try Connection(path: archive.path, access: .immutable)
    #expect(try connection.integer("PRAGMA user_version") == 3)
    #expect(try connection.integer("PRAGMA application_id") == 0x7862_6f74)
  }

  @Test("a newer schema is refused and nothing in the folder changes, by the daemon or a reader")
  func newer() throws {
    try openArchive(folder).close()
    do {
      let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
      try connection.setPragma("user_version", to: 99)
    }
    let before = folder.contents
    #expect(before.keys.sorted() == ["archive.db"])
    let refused = ArchiveError.newerSchema(path: folder.file("archive.db"), found: 99, known: 3)
    #expect(expectError(folder.file("archive.db")) == refused)
    #expect(throws: refused) { try ArchiveReader.open(path: folder.file("archive.db")) }
    #expect(folder.contents == before)
  }

  @Test("a newer schema that only the log knows of, after a crash, is refused and file and log stay")
  func newerInLog() throws {
    let other = TemporaryFolder()
    do {
      try openArchive(folder).close()
      let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
      try connection.setPragma("user_version", to: 99)
      for name in ["archive.db", "archive.db-wal"] { writeFile(other.file(name), readFile(folder.file(name))) }
    }
    let before = other.contents
    #expect(before["archive.db-wal"]?.isEmpty == false)
    let path = other.file("archive.db")
    #expect(expectError(path) == .newerSchema(path: path, found: 99, known: 3))
    let after = other.contents
    #expect(after["archive.db"] == before["archive.db"])
    #expect(after["archive.db-wal"] == before["archive.db-wal"])
  }

  @Test("a file that is not ours is refused and nothing in the folder changes")
  func foreign() throws {
    let path = folder.file("archive.db")
    for content in ["hello", String(repeating: "hello", count: 1_000)] {
      writeFile(path, Array(content.utf8))
      let before = folder.contents
      #expect(expectError(path) == .notAnArchive(path: path))
      #expect(folder.contents == before)
    }
    unlink(path)
    do {
      let connection = try Connection(path: path, access: .readWrite)
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE theirs (x);")
    }
    let before = folder.contents
    #expect(expectError(path) == .notAnArchive(path: path))
    #expect(folder.contents == before)
  }

  @Test("an archive that another daemon has open is refused, and is free again when that has ended")
  func inUse() throws {
    let archive = try openArchive(folder)
    #expect(expectError(archive.path) == .inUse(path: archive.path))
    archive.close()
    try openArchive(folder).close()
  }

  @Test("the lock of a process that was killed is waited for: a child of it may have it for a moment")
  func lockThatIsLetGo() throws {
    let path = folder.file("archive.db")
    try openArchive(folder).close()
    let other = open(path, O_RDWR | O_CLOEXEC)
    try #require(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0)
    var attempts = 0
    let lock = try ArchiveLock(path: path, migrator: Schema.migrator) {
      attempts += 1
      if attempts == 3 { close(other) }
      return attempts < 10
    }
    lock.release()
    #expect(attempts == 3)
    try openArchive(folder).close()
  }

  @Test("after a crash everything that was committed is there, and is found")
  func crash() throws {
    let archive = try openArchive(folder)
    for number in 1...200 { try archive.insertAndWait(message("crash\(number)")) }
    // What a kill would leave: the files as they are, without a word of farewell.
    let after = TemporaryFolder()
    for name in ["archive.db", "archive.db-wal"] { writeFile(after.file(name), readFile(folder.file(name))) }
    archive.close()

    #expect(try ArchiveReader.open(path: after.file("archive.db")).search("crash77") == ["crash77"])
    let reopened = try openArchive(after)
    #expect(try reopened.search("crash200") == ["crash200"])
    #expect(try reopened.insertAndWait(message("next")) == .inserted(id: 201))
    reopened.close()
    let connection = try Connection(path: after.file("archive.db"), access: .immutable)
    #expect(try connection.integer("SELECT integrity_check = 'ok' FROM pragma_integrity_check") == 1)
    #expect(try connection.integer("SELECT count(*) FROM message") == 201)
  }

  @Test("a reader writes nothing, whether the archive is closed or in use")
  func readerWritesNothing() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(message("one"))
    _ = try archive.search("one")  // the index has caught up: nothing is going on
    func read() throws -> [String: [UInt8]] {
      let reader = try ArchiveReader.open(path: archive.path)
      #expect(try reader.bodies() == ["one"])
      #expect(try reader.search("one") == ["one"])
      #expect(try reader.statistics().count == 1)
      return folder.contents.filter { $0.key != "archive.db-shm" }  // shared by readers by its nature
    }
    let live = folder.contents.filter { $0.key != "archive.db-shm" }
    #expect(try read() == live)
    archive.close()
    let closed = folder.contents
    #expect(try read() == closed)
    #expect(folder.files == ["archive.db"])
  }

  @Test("a damaged file is an error that says so, never an empty archive")
  func damaged() throws {
    let archive = try openArchive(folder)
    for number in 1...50 { try archive.insertAndWait(message("\(number)")) }
    archive.close()
    var bytes = readFile(archive.path)
    for index in 4_096..<bytes.count { bytes[index] = 0x55 }
    writeFile(archive.path, bytes)
    let reader = #expect(throws: ArchiveError.self) { try ArchiveReader.open(path: archive.path).bodies() }
    #expect(reader?.isFatal == true)
    let error = #expect(throws: ArchiveError.self) {
      let archive = try openArchive(folder)
      defer { archive.close() }
      try archive.insertAndWait(message("x"))
    }
    #expect(error?.isFatal == true)
    #expect(error?.description.contains("damaged") == true)
  }

  @Test("with sync = normal the archive works the same")
  func normal() throws {
    let archive = try openArchive(folder, options: ArchiveOptions(synchronous: .normal))
    try archive.insertAndWait(message("x"))
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).bodies() == ["x"])
  }
}
