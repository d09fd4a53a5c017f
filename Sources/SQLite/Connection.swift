import CSQLite
import Glibc

/// One connection to a database file. It belongs to one thread at a time: it is opened without SQLite's own mutexes.
public final class Connection {
  public enum Access: Sendable {
    /// Reads and writes; the file is created if missing.
    case readWrite
    /// Reads only; sees what others commit. May create the `-shm` file that readers of a WAL share.
    case readOnly
    /// Reads only, creates and locks nothing: for a file that nobody writes meanwhile and that has no WAL.
    case immutable
  }

  public let path: String
  let handle: OpaquePointer
  /// Prepared statements by the address of their literal: finding one costs no comparison of text.
  private var statements: [UnsafePointer<UInt8>: Statement] = [:]
  private let walPageCount: UnsafeMutablePointer<Int>

  /// How long a lock that another connection holds is waited for: milliseconds.
  private static let patience: Int32 = 1_000
  /// Configures SQLite once, before its first use.
  private static let library = csqlite_configure()

  /// Opens `path` and sets what holds for every connection of ours: nothing in the file is trusted
  /// (https://www.sqlite.org/security.html), memory is bounded, no file is mapped.
  public init(path: String, access: Access) throws(DatabaseError) {
    _ = Connection.library
    let flags: Int32 =
      switch access {
      case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly, .immutable: SQLITE_OPEN_READONLY
      }
    let name = access == .immutable ? Connection.uri(of: path, "immutable=1") : path
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
      sqlite3_close_v2(handle)
      throw DatabaseError(code: ResultCode(rawValue: code), message: message, path: path, operation: "open")
    }
    self.path = path
    self.handle = handle
    walPageCount = .allocate(capacity: 1)
    walPageCount.initialize(to: 0)
    sqlite3_busy_timeout(handle, Connection.patience)
    _ = csqlite_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    try execute(
      """
      PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;
      PRAGMA mmap_size = 0; PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY;
      """)
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
    walPageCount.deallocate()
  }

  /// Lets a database be read, as far as that goes, that is shorter than it says or whose schema is in part unreadable.
  public func tolerateDamage(_ tolerate: Bool) throws(DatabaseError) {
    _ = csqlite_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, tolerate ? 0 : 1)
    try execute(tolerate ? "PRAGMA writable_schema = ON" : "PRAGMA writable_schema = RESET")
  }

  /// Lets the tables that a virtual table is made of be written, to do damage in a test.
  package func allowChangesOfShadowTables() { _ = csqlite_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0) }

  /// The statement for `sql`, prepared once and kept. Only literals are taken, so no text from outside ever becomes SQL.
  public func statement(_ sql: StaticString) throws(DatabaseError) -> Statement {
    if let known = statements[sql.utf8Start], !known.isRunning { return known }
    let new = try Statement(self, sql)
    if statements[sql.utf8Start] == nil { statements[sql.utf8Start] = new }
    return new
  }

  /// Runs the statements of a script that takes no values.
  public func execute(_ script: StaticString) throws(DatabaseError) { try execute(text: script.description) }

  /// Sets a pragma that takes a number (pragmas can't be bound).
  public func setPragma(_ name: StaticString, to value: Int) throws(DatabaseError) {
    try execute(text: "PRAGMA \(name) = \(value)")
  }

  private func execute(text: String) throws(DatabaseError) {
    try check(sqlite3_exec(handle, text, nil, nil, nil), text)
  }

  /// The first column of the first row of `sql`, for questions with one number as the answer.
  public func integer(_ sql: StaticString) throws(DatabaseError) -> Int64 {
    let statement = try statement(sql)
    defer { statement.reset() }
    return try statement.step() ? statement.integer(at: 0) : 0
  }

  /// Whether a transaction is open. SQLite ends one by itself after some errors (https://www.sqlite.org/lang_transaction.html).
  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  /// Rows changed since the connection was opened.
  public var totalChanges: Int64 { sqlite3_total_changes64(handle) }
  /// Rows changed by the last statement.
  public var changes: Int64 { sqlite3_changes64(handle) }
  public var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The file was renamed, removed or replaced since it was opened (SQLITE_FCNTL_HAS_MOVED).
  public var hasMoved: Bool {
    var moved: Int32 = 0
    return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
  }

  /// Undoes the open transaction, if there is one.
  public func rollBack() {
    // Its own error says only what the error before it said.
    if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Gives the page cache back to the allocator, before a long rest; `toSystem`: and all that is free to the system.
  public func releaseMemory(toSystem: Bool = false) {
    sqlite3_db_release_memory(handle)
    if toSystem { csqlite_trim_heap() }
  }

  func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(DatabaseError) {
    guard code != SQLITE_OK else { return }
    throw error(code, operation())
  }

  func error(_ code: Int32, _ operation: String) -> DatabaseError {
    DatabaseError(
      code: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(handle)), path: path,
      operation: operation)
  }

  /// Makes another database readable, and nothing more, under `schema`, a name without quotes in it. `isImmutable`: it has
  /// no log and nobody writes it, so that nothing is created beside it.
  public func attach(readOnly path: String, isImmutable: Bool, as schema: StaticString) throws(DatabaseError) {
    // A schema's name may be bound as well, as an expression.
    let attach = try statement("ATTACH ? AS ?")
    try attach.bind(Connection.uri(of: path, isImmutable ? "immutable=1" : "mode=ro"), at: 1)
    try attach.bind(schema.description, at: 2)
    try attach.run()
  }

  /// `path` as a URI with parameters (https://www.sqlite.org/uri.html); `immutable=1` says that the file does not change.
  private static func uri(of path: String, _ parameters: String) -> String {
    let hex = Array("0123456789abcdef")
    var uri = "file:"
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"), 0x80...:
        uri += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
      default: uri.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return uri + "?" + parameters
  }
}

// Write-ahead log (https://www.sqlite.org/wal.html).
extension Connection {
  /// Switches to WAL, with checkpoints left to `checkpoint(_:)`: SQLite's own would hide their errors.
  public func useWAL(sizeLimit: Int) throws(DatabaseError) {
    try execute("PRAGMA journal_mode = WAL")
    try setPragma("journal_size_limit", to: sizeLimit)
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context?.assumingMemoryBound(to: Int.self).pointee = Int(pages)
        return SQLITE_OK
      }, walPageCount)
  }

  /// Pages in the log after the last commit of this connection.
  public var walPages: Int { walPageCount.pointee }

  public enum Checkpoint: Sendable {
    /// As much as readers allow, without waiting.
    case passive
    /// Everything, then the log is cut to nothing.
    case truncate
  }

  /// Moves what the log holds into the database file. Whether all of it could be moved; if not, somebody still reads
  /// what was before.
  @discardableResult
  public func checkpoint(_ mode: Checkpoint) throws(DatabaseError) -> Bool {
    var pages: Int32 = 0
    var moved: Int32 = 0
    let number = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    try check(sqlite3_wal_checkpoint_v2(handle, nil, number, &pages, &moved), "checkpoint")
    if mode == .truncate { walPageCount.pointee = 0 }
    return moved >= pages
  }

  /// As `checkpoint(.truncate)`, but waits for nobody: false if a reader is in the way. What can be moved is moved.
  public func truncateLogIfFree() throws(DatabaseError) -> Bool {
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, Connection.patience) }
    do throws(DatabaseError) {
      return try checkpoint(.truncate)
    } catch  where error.isBusy {
      return false
    }
  }

  /// Whether closing leaves the log as it is: for a disk that is not to be trusted any more, and a file that may not be ours.
  public func leaveWALWhenClosed(_ leave: Bool) {
    _ = csqlite_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave ? 1 : 0)
  }
}
