import SQLite
import TestSupport
import Testing

@Suite("Connections and statements")
struct ConnectionTests {
  let folder = TemporaryFolder()

  func open() throws -> Connection {
    let connection = try Connection(path: folder.file("test.db"), access: .readWrite)
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value TEXT UNIQUE CHECK (value <> 'no'))")
    return connection
  }

  func insert(_ value: String?, _ connection: Connection) throws {
    let insert = try connection.statement("INSERT INTO t (value) VALUES (?)")
    try insert.bind(value, at: 1)
    try insert.run()
  }

  @Test(
    "any text comes back as it went in",
    arguments: [
      "", "plain", "a\0b", "\0", "\u{FFFF}\u{FFFE}", "👩‍👩‍👧‍👦", "e\u{301}", "\u{E000}", "'; DROP TABLE t; --",
      String(repeating: "ä", count: 500_000),
    ])
  func text(value: String) throws {
    let connection = try open()
    try insert(value, connection)
    let row = try connection.statement("SELECT value FROM t")
    #expect(try row.step())
    #expect(Array(row.text(at: 0).utf8) == Array(value.utf8))
  }

  @Test("NULL is not the empty text")
  func null() throws {
    let connection = try open()
    try insert(nil, connection)
    try insert("", connection)
    var values: [String?] = []
    try connection.statement("SELECT value FROM t ORDER BY id").forEachRow { values.append($0.optionalText(at: 0)) }
    #expect(values == [nil, ""])
  }

  @Test("a value of the last run does not stay bound")
  func bindingsAreCleared() throws {
    let connection = try open()
    try insert("first", connection)
    try connection.statement("INSERT INTO t (value) VALUES (?)").run()
    #expect(try connection.integer("SELECT count(*) FROM t WHERE value IS NULL") == 1)
  }

  @Test("a statement whose rows are being read can be asked for again")
  func nestedUse() throws {
    let connection = try open()
    for value in ["a", "b"] { try insert(value, connection) }
    func rows() throws(DatabaseError) -> Statement { try connection.statement("SELECT value FROM t ORDER BY id") }
    var pairs: [String] = []
    try rows().forEachRow { outer throws(DatabaseError) in
      try rows().forEachRow { inner in pairs.append(outer.text(at: 0) + inner.text(at: 0)) }
    }
    #expect(pairs == ["aa", "ab", "ba", "bb"])
  }

  @Test("an error says which file, why, in which statement, and carries the extended code")
  func errors() throws {
    let connection = try open()
    try insert("twice", connection)
    let unique = #expect(throws: DatabaseError.self) { try insert("twice", connection) }
    #expect(unique?.code == .constraintUnique)
    #expect(unique?.isConstraint == true)
    #expect(unique?.description.contains(folder.path) == true)
    #expect(unique?.description.contains("INSERT INTO t") == true)
    #expect(unique?.description.contains("twice") == false)
    let check = #expect(throws: DatabaseError.self) { try insert("no", connection) }
    #expect(check?.code == .constraintCheck)
  }

  @Test("a file that can't be opened is an error that says so")
  func cannotOpen() {
    let error = #expect(throws: DatabaseError.self) { try Connection(path: "/nonexistent/x.db", access: .readWrite) }
    #expect(error?.code.primary == .cannotOpen)
  }

  @Test("a full database is recognised")
  func full() throws {
    let connection = try open()
    try connection.setPragma("max_page_count", to: 4)
    let error = #expect(throws: DatabaseError.self) { try insert(String(repeating: "x", count: 100_000), connection) }
    #expect(error?.isFull == true)
  }

  @Test("a reader can't write")
  func readOnly() throws {
    _ = try open()
    let reader = try Connection(path: folder.file("test.db"), access: .readOnly)
    let error = #expect(throws: DatabaseError.self) { try insert("x", reader) }
    #expect(error?.isReadOnly == true)
  }

  @Test("an immutable file may have any name")
  func immutableNames() throws {
    for name in ["a b.db", "a?b#c%41.db", "ä.db"] {
      _ = try Connection(path: folder.file(name), access: .readWrite).execute("CREATE TABLE t (x)")
      let reader = try Connection(path: folder.file(name), access: .immutable)
      #expect(try reader.integer("SELECT count(*) FROM sqlite_schema") == 1)
    }
  }

  @Test("a transaction that throws leaves nothing, a savepoint that throws leaves what was before it")
  func rollback() throws {
    let connection = try open()
    let refused = DatabaseError(code: .abort, message: "", path: "", operation: "")
    #expect(throws: refused) {
      try connection.transaction { () throws(DatabaseError) in
        try connection.execute("INSERT INTO t (value) VALUES ('gone')")
        throw refused
      }
    }
    try connection.transaction { () throws(DatabaseError) in
      try connection.execute("INSERT INTO t (value) VALUES ('kept')")
      #expect(throws: refused) {
        try connection.savepoint { () throws(DatabaseError) in
          try connection.execute("INSERT INTO t (value) VALUES ('undone')")
          throw refused
        }
      }
    }
    #expect(!connection.isInTransaction)
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    #expect(try connection.integer("SELECT value = 'kept' FROM t") == 1)
  }

  @Test("the log's length is known after each commit, and nothing after a checkpoint")
  func walPages() throws {
    let connection = try open()
    try connection.useWAL(sizeLimit: 1_000_000)
    try insert("x", connection)
    #expect(connection.walPages > 0)
    try connection.checkpoint(.truncate)
    #expect(connection.walPages == 0)
    #expect(readFile(folder.file("test.db-wal")).isEmpty)
  }
}
