import Glibc
import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("A damaged archive is set aside and a new one begun")
struct SetAsideTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("archive.db") }

  private func open() throws(ArchiveError) -> Archive {
    try openArchive(folder, options: ArchiveOptions(damaged: .setAside))
  }

  /// Messages, one that waits, a contact, something remembered. What the file then holds.
  @discardableResult
  private func fill() throws -> [UInt8] {
    let archive = try open()
    #expect(archive.setAside == nil)
    _ = try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 1...300 { try transaction.insert(message("\(number) " + String(repeating: "x", count: 300))) }
      try transaction.insert(NewMessage(.out, .chat, peer: "bob@example.org", time: start, body: "waits"))
      try transaction.setMeta(.resource, to: "xmppbotd-1")
      try transaction.upsertRoster(RosterEntry(jid: "alice@example.org", groups: ["friends"]))
      try transaction.connection.execute(
        """
        INSERT INTO command (message, name, started) VALUES (7, 'slow', 0);
        INSERT INTO progress VALUES ('bot@example.org', 'stanza-9');
        """)
    }
    archive.close()
    return readFile(path)
  }

  private func overwrite(_ bytes: [UInt8], _ range: Range<Int>, with byte: UInt8 = 0x55) {
    var bytes = bytes
    for index in range.clamped(to: 0..<bytes.count) { bytes[index] = byte }
    writeFile(path, bytes)
  }

  private func expectSetAside(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws -> Archive {
    let archive = try open()
    let setAside = try #require(archive.setAside, sourceLocation: sourceLocation)
    let name = try #require(setAside.files.first, sourceLocation: sourceLocation)
    #expect(name.hasPrefix(path + ".damaged-2"), sourceLocation: sourceLocation)
    #expect(readFile(name) == bytes, sourceLocation: sourceLocation)
    #expect(setAside.description.contains("xmppbotctl archive recover \(name) "), sourceLocation: sourceLocation)
    try archive.insertAndWait(message("new"))
    return archive
  }

  @Test("when its beginning is overwritten or zeros, or its end is missing")
  func atOpening() throws {
    let whole = try fill()
    for (range, byte): (Range<Int>, UInt8) in [
      (0..<16, 0x55), (0..<4_096, 0x55), (0..<4_096, 0), (0..<whole.count, 0), (100..<4_096, 0x55),
    ] {
      overwrite(whole, range, with: byte)
      let damaged = readFile(path)
      try expectSetAside(damaged).close()
      unlink(path)
    }
    writeFile(path, Array(whole.prefix(whole.count / 8_192 * 4_096)))
    try expectSetAside(readFile(path)).close()
    #expect(folder.files.filter { $0.hasPrefix("archive.db.damaged-") }.count == 6)
  }

  @Test("what can be read of the roster, of what is remembered and of what waits is taken over; ids go on")
  func salvage() throws {
    let whole = try fill()
    // The last page in the file is none of theirs.
    writeFile(path, Array(whole.dropLast(4_096)))
    let archive = try expectSetAside(readFile(path))
    #expect(archive.setAside?.lost == [])
    let roster = try archive.readAndWait { queries throws(DatabaseError) in try queries.roster() }
    #expect(roster == [RosterEntry(jid: "alice@example.org", groups: ["friends"])])
    #expect(try archive.readAndWait { queries throws(DatabaseError) in try queries.meta(.resource) } == "xmppbotd-1")
    let waiting = try archive.readAndWait { queries throws(DatabaseError) in try queries.queued(limit: 9) }
    #expect(waiting.map(\.id) == [301] && waiting.first?.body == "waits")
    #expect(try archive.insertAndWait(message("later")) == .inserted(id: 303))
    #expect(try archive.search("waits") == ["waits"])
    let rows = try archive.readAndWait { queries throws(DatabaseError) in
      let connection = queries.connection
      return [
        try connection.integer("SELECT message FROM command"), try connection.integer("SELECT count(*) FROM progress"),
        try connection.integer("SELECT count(*) FROM message WHERE id = 7"),
      ]
    }
    #expect(rows == [7, 1, 1])
    archive.close()
    #expect(try ArchiveReader.open(path: path).check().isSound)
  }

  @Test("when damage is met in the midst: the process has to end, and the next start sets it aside")
  func whileRunning() throws {
    let whole = try fill()
    overwrite(whole, 8_192..<whole.count)
    let damaged = readFile(path)
    let archive: Archive
    do {
      archive = try open()
    } catch {
      Issue.record(error)
      return
    }
    if archive.setAside == nil {
      let error = #expect(throws: ArchiveError.self) {
        for number in 0..<100 { try archive.insertAndWait(message("\(number)")) }
      }
      #expect(error?.isFatal == true)
      archive.close()
      let next = try open()
      #expect(next.setAside?.reason.contains("met before") == true)
      #expect(next.setAside.map { readFile($0.files[0]) } == damaged)
      next.close()
    } else {
      archive.close()
    }
    #expect(try ArchiveReader.open(path: path).check().isSound)
    #expect(!folder.files.contains("archive.db.is-damaged"))
  }

  @Test("a read that meets damage ends the trust in the file as well")
  func read() throws {
    let whole = try fill()
    let archive = try open()
    // Behind SQLite's back, in pages that it has not read.
    let descriptor = Glibc.open(path, O_RDWR)
    let garbage = [UInt8](repeating: 0x55, count: 40 * 4_096)
    pwrite(descriptor, garbage, garbage.count, off_t(whole.count - 40 * 4_096))
    close(descriptor)
    #expect(throws: ArchiveError.self) { try archive.readAndWait(PageRead(ExportCursor(), size: .max)) }
    let error = #expect(throws: ArchiveError.self) { try archive.insertAndWait(message("x")) }
    #expect(error?.isFatal == true)
    archive.close()
    let next = try open()
    #expect(next.setAside != nil)
    next.close()
  }

  @Test("a file that was restored or mended since is not set aside")
  func restored() throws {
    let whole = try fill()
    DamageMark.write(path: path, reason: "test")
    unlink(path)
    writeFile(path, whole)
    let archive = try open()
    #expect(archive.setAside == nil)
    archive.close()
  }

  @Test("a log without its database, or with an empty one, is kept and told of")
  func logAlone() throws {
    for isThere in [false, true] {
      if isThere { writeFile(path, []) }
      writeFile(path + "-wal", Array("not to be lost".utf8))
      let archive = try open()
      let setAside = try #require(archive.setAside)
      let log = try #require(setAside.files.first { $0.hasSuffix("-wal") })
      #expect(readFile(log) == Array("not to be lost".utf8))
      #expect(setAside.description.contains("restore a backup") || isThere)
      archive.close()
      unlink(path)
    }
    #expect(folder.files.filter { $0.hasSuffix("-wal") }.count == 2)
  }

  @Test("an empty file is used, and told of")
  func empty() throws {
    writeFile(path, [])
    let notices = Monitor<[ArchiveNotice]>([])
    let archive = try Archive.open(path: path, noticed: { n in notices.withLock { $0.append(n) } }) { $0() }
    archive.close()
    #expect(notices.withLock { $0 } == [.wasEmpty(path: path)])
  }

  @Test("a reader tells an archive whose beginning is lost from a file that never was one")
  func beginning() throws {
    var bytes = try fill()
    bytes.replaceSubrange(0..<100, with: [UInt8](repeating: 0xFF, count: 100))
    writeFile(path, bytes)
    #expect {
      _ = try ArchiveReader.open(path: path)
    } throws: { error in
      if case ArchiveError.damaged = error { true } else { false }
    }
    writeFile(path, Array(String(repeating: "hello", count: 10_000).utf8))
    #expect(throws: ArchiveError.notAnArchive(path: path)) { _ = try ArchiveReader.open(path: path) }
  }

  @Test("another's file is never touched, and neither is a newer schema or a damaged one by xmppbotctl")
  func untouched() throws {
    writeFile(path, Array(String(repeating: "hello", count: 10_000).utf8))
    #expect(throws: ArchiveError.notAnArchive(path: path)) { try open() }
    #expect(folder.files == ["archive.db"])
    unlink(path)
    let whole = try fill()
    do {
      let connection = try Connection(path: path, access: .readWrite)
      try connection.setPragma("user_version", to: 99)
    }
    #expect(throws: ArchiveError.self) { try open() }
    #expect(folder.files == ["archive.db"])
    overwrite(whole, 0..<4_096)
    let damaged = readFile(path)
    let error = #expect(throws: ArchiveError.self) { try openArchive(folder) }
    #expect(error?.isFatal == true)
    #expect(folder.files == ["archive.db"] && readFile(path) == damaged)
  }
}
