import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("The ledger of commands")
struct LedgerTests {
  let folder = TemporaryFolder()

  func open(_ name: String, in archive: Archive) throws -> Int64? {
    try archive.writeAndWait { transaction throws(DatabaseError) in
      guard case .inserted(let id) = try transaction.insert(message(name)) else { return nil }
      try transaction.openCommand(name, message: id, at: start + id)
      return id
    }
  }

  func finish(_ id: Int64, in archive: Archive) throws -> Bool {
    try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.finishCommand(message: id, outcome: "exit 0", at: start + 100)
    }
  }

  func unfinished(_ archive: Archive) throws -> [OpenCommand] {
    try archive.readAndWait { queries throws(DatabaseError) in try queries.openCommands() }
  }

  @Test("after a crash, what was started and not finished is known, oldest first")
  func unfinished() throws {
    let archive = try openArchive(folder)
    for name in ["deploy", "backup", "report"] { _ = try open(name, in: archive) }
    #expect(try finish(2, in: archive))
    let after = TemporaryFolder()
    for name in ["archive.db", "archive.db-wal"] { writeFile(after.file(name), readFile(folder.file(name))) }
    archive.close()
    let reopened = try openArchive(after)
    let commands = try unfinished(reopened)
    #expect(commands.map(\.name) == ["deploy", "report"])
    #expect(commands.map(\.started) == [start + 1, start + 3])
    #expect(commands.map(\.message.id) == [1, 3])
    #expect(commands.map(\.message.body) == ["deploy", "report"])
    reopened.close()
  }

  @Test("a command is finished once; of a message that was none, never")
  func once() throws {
    let archive = try openArchive(folder)
    _ = try open("deploy", in: archive)
    try archive.insertAndWait(message("hello"))
    #expect(try finish(1, in: archive))
    #expect(try !finish(1, in: archive))
    #expect(try !finish(2, in: archive))
    #expect(try !finish(99, in: archive))
    #expect(try unfinished(archive).isEmpty)
    archive.close()
  }

  @Test("a message runs one command, and there is none without its message")
  func oneForEach() throws {
    let archive = try openArchive(folder)
    _ = try open("deploy", in: archive)
    for id in [1, 7] as [Int64] {
      #expect(throws: ArchiveError.self) {
        try archive.writeAndWait { transaction throws(DatabaseError) in
          try transaction.openCommand("again", message: id, at: start)
        }
      }
    }
    #expect(try unfinished(archive).map(\.name) == ["deploy"])
    archive.close()
  }

  @Test("a message that is deleted takes its command with it")
  func deleted() throws {
    let archive = try openArchive(folder)
    for name in ["deploy", "backup"] { _ = try open(name, in: archive) }
    let left = try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.statement("DELETE FROM message WHERE id = 1").run()
      return try transaction.connection.integer("SELECT count(*) FROM command")
    }
    #expect(left == 1)
    #expect(try unfinished(archive).map(\.name) == ["backup"])
    archive.close()
  }

  @Test("people read the ledger's times as text")
  func view() throws {
    let archive = try openArchive(folder)
    for name in ["deploy", "backup"] { _ = try open(name, in: archive) }
    _ = try finish(1, in: archive)
    archive.close()
    let connection = try Connection(path: archive.path, access: .immutable)
    var lines: [String] = []
    try connection.statement("SELECT message, name, peer, started, finished, outcome FROM commands").forEachRow { row in
      lines.append((0..<6).map { row.optionalText(at: $0) ?? "-" }.joined(separator: " "))
    }
    #expect(
      lines == [
        "1 deploy alice@example.org 2023-11-14T22:13:20.000001Z 2023-11-14T22:13:20.000100Z exit 0",
        "2 backup alice@example.org 2023-11-14T22:13:20.000002Z - -",
      ])
  }
}
