import Glibc
import SQLite
import TestSupport
import Testing

@Suite("Migrations")
struct MigratorTests {
  let folder = TemporaryFolder()
  static let steps: [StaticString] = [
    "CREATE TABLE a (x); INSERT INTO a VALUES (1);",
    "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;",
    "CREATE TABLE b AS SELECT x + y AS z FROM a;",
  ]

  func migrator(_ versions: Int) -> Migrator {
    Migrator(applicationID: 0x7465_7374, migrations: Array(MigratorTests.steps.prefix(versions)))
  }

  func open() throws -> Connection { try Connection(path: folder.file("test.db"), access: .readWrite) }

  @Test("every older version comes forward to the newest", arguments: 0...3)
  func forward(from version: Int) throws {
    try migrator(version).migrate(open())
    let connection = try open()
    try migrator(3).migrate(connection)
    #expect(try connection.integer("PRAGMA user_version") == 3)
    #expect(try connection.integer("PRAGMA application_id") == 0x7465_7374)
    #expect(try connection.integer("SELECT z FROM b") == 3)
  }

  @Test("a migration that fails leaves the version before it whole")
  func failure() throws {
    let broken = Migrator(
      applicationID: 0x7465_7374,
      migrations: [MigratorTests.steps[0], "CREATE TABLE c (x); SELECT no_such_column FROM a;"])
    let connection = try open()
    #expect(throws: MigrationError.self) { try broken.migrate(connection) }
    #expect(try connection.integer("PRAGMA user_version") == 1)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 1)
    try migrator(3).migrate(connection)
    #expect(try connection.integer("SELECT z FROM b") == 3)
  }

  @Test("a newer schema is refused")
  func newer() throws {
    let connection = try open()
    try migrator(3).migrate(connection)
    #expect(throws: MigrationError.newerSchema(found: 3, known: 2)) { try migrator(2).migrate(connection) }
  }

  @Test("another program's file is refused, whether marked or not")
  func foreign() throws {
    let connection = try open()
    try connection.execute("CREATE TABLE theirs (x)")
    #expect(throws: MigrationError.otherApplication(id: 0)) { try migrator(3).migrate(connection) }
    try connection.setPragma("application_id", to: 99)
    #expect(throws: MigrationError.otherApplication(id: 99)) { try migrator(3).migrate(connection) }
  }

  @Test("the header read without SQLite says what SQLite says")
  func header() throws {
    try migrator(2).migrate(open())
    let descriptor = Glibc.open(folder.file("test.db"), O_RDONLY)
    defer { close(descriptor) }
    let header = try #require(DatabaseHeader(descriptor: descriptor))
    #expect(header.userVersion == 2)
    #expect(header.applicationID == 0x7465_7374)
    #expect(header.pageCount == 2)
  }

  @Test("a file that is no database has no header", arguments: ["", "short", String(repeating: "x", count: 200)])
  func noHeader(content: String) {
    writeFile(folder.file("other"), Array(content.utf8))
    let descriptor = Glibc.open(folder.file("other"), O_RDONLY)
    defer { close(descriptor) }
    #expect(DatabaseHeader(descriptor: descriptor) == nil)
  }
}
