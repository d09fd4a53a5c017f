import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Migration from version 1")
struct MigrationTests {
  let folder = TemporaryFolder()

  /// An archive as version 1 left it, with the rows of `script`.
  func makeVersion1(_ script: StaticString) throws {
    let first = Migrator(
      applicationID: Schema.applicationID, migrations: Array(Schema.migrator.migrations.prefix(1)))
    let connection = try Connection(path: folder.file("archive.db"), access: .readWrite)
    try connection.useWAL(sizeLimit: 1_000_000)
    try first.migrate(connection)
    try connection.execute(script)
  }

  static let allStates: StaticString = """
    INSERT INTO message (time, direction, kind, state, peer, body, message_id, origin_id, error) VALUES
      (1, 'in', 'chat', 'received', 'alice@example.org', 'in', 'a', NULL, NULL),
      (2, 'out', 'chat', 'queued', 'alice@example.org', 'queued', 'o2', 'o2', NULL),
      (3, 'out', 'chat', 'sent', 'alice@example.org', 'sent', 'o3', 'o3', NULL),
      (4, 'out', 'chat', 'acked', 'alice@example.org', 'acked', 'o4', 'o4', NULL),
      (5, 'out', 'chat', 'received', 'alice@example.org', 'received', 'o5', 'o5', NULL),
      (6, 'out', 'chat', 'displayed', 'alice@example.org', 'displayed', 'o6', 'o6', NULL),
      (7, 'out', 'chat', 'failed', 'alice@example.org', 'failed', 'o7', 'o7', 'gone'),
      (8, 'out', 'chat', 'sent', 'alice@example.org', 'other device', 'o8', NULL, NULL);
    INSERT INTO meta VALUES ('resource', 'xmppbotd-1'), ('indexed_up_to', '0');
    INSERT INTO roster VALUES ('alice@example.org', 'Alice', 'both', 0);
    """

  @Test("all rows are kept; what was sent counts as acknowledged, and nothing is sent again")
  func states() throws {
    try makeVersion1(Self.allStates)
    let archive = try openArchive(folder)
    let (states, queued, sent) = try archive.readAndWait { queries throws(DatabaseError) in
      var states: [String] = []
      for id in 1...8 as ClosedRange<Int64> {
        if let row = try queries.message(id: id) { states.append("\(row.body ?? ""): \(row.state)") }
      }
      return (states, try queries.queuedCount(), try queries.sentCount())
    }
    #expect(
      states == [
        "in: received", "queued: queued", "sent: acked", "acked: acked", "received: received", "displayed: displayed",
        "failed: failed", "other device: acked",
      ])
    #expect(queued == 1)
    #expect(sent == 0)
    #expect(try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.requeueSent() } == 1)
    #expect(try archive.search("device") == ["other device"])
    #expect(try archive.insertAndWait(message("next")) == .inserted(id: 9))
    let (resource, roster) = try archive.readAndWait { queries throws(DatabaseError) in
      (try queries.meta(.resource), try queries.roster())
    }
    #expect(resource == "xmppbotd-1")
    #expect(roster.map(\.jid) == ["alice@example.org"])
    archive.close()
  }

  @Test("an old file comes out with the same schema as a new one, and whole")
  func sameSchema() throws {
    try makeVersion1(Self.allStates)
    try openArchive(folder).close()
    let other = TemporaryFolder()
    try openArchive(other).close()
    func schema(_ folder: TemporaryFolder) throws -> [String] {
      let connection = try Connection(path: folder.file("archive.db"), access: .immutable)
      #expect(try connection.integer("SELECT integrity_check = 'ok' FROM pragma_integrity_check") == 1)
      #expect(try connection.integer("PRAGMA user_version") == 3)
      var schema: [String] = []
      try connection.statement("SELECT type || ' ' || name || ': ' || ifnull(sql, '') FROM sqlite_schema ORDER BY 1")
        .forEachRow { schema.append($0.text(at: 0)) }
      return schema
    }
    #expect(try schema(folder) == schema(other))
  }

  @Test("a migration that fails leaves the file as version 1 had it")
  func failing() throws {
    // Something of the same name is in the way of the last steps.
    try makeVersion1("CREATE TABLE command (x); INSERT INTO meta VALUES ('resource', 'r');")
    #expect(throws: ArchiveError.self) { try openArchive(folder) }
    let connection = try Connection(path: folder.file("archive.db"), access: .readOnly)
    #expect(try connection.integer("PRAGMA user_version") == 1)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'message_origin'") == 1)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'stream'") == 0)
  }

  @Test("a reader refuses a file of version 1 and says what to do")
  func reader() throws {
    try makeVersion1(Self.allStates)
    #expect(throws: ArchiveError.olderSchema(path: folder.file("archive.db"), found: 1, known: 3)) {
      try ArchiveReader.open(path: folder.file("archive.db"))
    }
  }
}
