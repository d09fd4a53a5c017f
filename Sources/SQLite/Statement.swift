import CSQLite

/// A prepared statement. Bind by position (from 1), step, read columns (from 0), reset. It does not outlive its connection.
public final class Statement {
  private unowned let connection: Connection
  private let handle: OpaquePointer
  private let sql: StaticString

  init(_ connection: Connection, _ sql: StaticString) throws(DatabaseError) {
    var handle: OpaquePointer?
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let code = sqlite3_prepare_v3(
      connection.handle, text, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard code == SQLITE_OK, let handle else { throw connection.error(code, sql.description) }
    self.connection = connection
    self.handle = handle
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

  /// Whether rows of an earlier run are still being read.
  var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

  /// What is not bound, or bound to nil, is NULL.
  public func bind(_ value: Int64?, at index: Int32) throws(DatabaseError) {
    guard let value else { return }
    try connection.check(sqlite3_bind_int64(handle, index, value), sql.description)
  }

  /// Any text goes in as it is, NUL characters too.
  public func bind(_ value: String?, at index: Int32) throws(DatabaseError) {
    guard var value else { return }
    let code = value.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { csqlite_bind_text(handle, index, $0.baseAddress, UInt64($0.count)) }
    }
    try connection.check(code, sql.description)
  }

  /// Advances to the next row; false when there is none.
  public func step() throws(DatabaseError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw connection.error(code, sql.description)
    }
  }

  /// Ends the run and forgets the values. What the run's error was, `step` has said.
  public func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Runs to the end and resets, for statements that give no rows.
  public func run() throws(DatabaseError) {
    defer { reset() }
    while try step() {}
  }

  /// Calls `body` for each row, then resets.
  public func forEachRow(_ body: (Statement) throws(DatabaseError) -> Void) throws(DatabaseError) {
    defer { reset() }
    while try step() { try body(self) }
  }

  public func integer(at column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  public func optionalInteger(at column: Int32) -> Int64? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(at: column)
  }

  /// Empty for NULL. Bytes that are no UTF-8, which we never store, are replaced.
  public func text(at column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let length = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
  }

  public func optionalText(at column: Int32) -> String? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : text(at: column)
  }
}
