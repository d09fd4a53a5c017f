import CSQLite

extension Connection {
  /// Copies the whole database, as it is now, into `destination`, which is emptied first. Others write meanwhile: a read
  /// transaction holds what is copied, so that the copy is of one moment and never has to begin again
  /// (https://www.sqlite.org/backup.html). It keeps their log from being cut, so `progress` (pages that are left, of so
  /// many) is asked after each step of about 4 MiB whether to go on. Whether the copy is complete.
  public func copy(
    to destination: Connection, progress: (_ left: Int, _ pages: Int) -> Bool
  ) throws(DatabaseError) -> Bool {
    try execute("BEGIN; SELECT count(*) FROM sqlite_schema;")
    defer { rollBack() }
    guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
      throw destination.error(sqlite3_extended_errcode(destination.handle), "backup")
    }
    var code: Int32
    repeat {
      code = sqlite3_backup_step(backup, 1_024)
    } while code == SQLITE_OK && progress(Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
    // After an error of a step, this says the same.
    let end = sqlite3_backup_finish(backup)
    if code != SQLITE_OK, code != SQLITE_DONE { throw destination.error(end == SQLITE_OK ? code : end, "backup") }
    return code == SQLITE_DONE
  }

  /// For a file that is synced, and thrown away after a crash, by whom it is made for: no journal, no syncs.
  public func writeWithoutSafety() throws(DatabaseError) {
    try execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
  }
}
