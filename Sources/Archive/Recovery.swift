import Glibc
import SQLite

/// Writes what can still be read of a damaged archive to a new one. (`sqlite3 FILE .recover` would do more with a file whose
/// first page is gone, but Debian's does not have it.)
public struct Recovery: Sendable, Hashable {
  public private(set) var messages: Int64 = 0
  /// Rows that are there and can't be read, as far as their ids tell; those of pages that are lost as a whole included.
  public private(set) var unreadable: Int64 = 0
  /// What else was taken over, and what not, in words.
  public private(set) var kept: [String] = []
  public private(set) var lost: [String] = []

  /// Messages that are copied in one go, as long as nothing is wrong.
  private static let range: Int64 = 4_096

  /// Reads `damaged`, which is not changed, and makes `path`, which must not be there yet.
  public static func run(from damaged: String, to path: String) throws(ArchiveError) -> Recovery {
    guard access(damaged, R_OK) == 0 else {
      throw .unusable(path: damaged, reason: "can't be read (\(systemReason()))")
    }
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .unusable(path: path, reason: "can't be made (\(systemReason()))") }
    defer { close(descriptor) }
    var recovery = Recovery()
    do throws(MigrationError) {
      let connection: Connection
      do throws(DatabaseError) {
        connection = try Connection(path: path, access: .readWrite)
      } catch {
        throw .failed(error)
      }
      try Schema.migrator.migrate(connection)
      var source = SetAside(reason: "", path: path, files: [damaged])
      try recovery.copy(from: &source, connection)
    } catch {
      unlink(path)
      throw ArchiveError(error, path: path)
    }
    guard fsync(descriptor) == 0, Folder.sync(Folder.of(path)) else {
      throw .unusable(path: path, reason: "can't be synced (\(systemReason()))")
    }
    return recovery
  }

  private mutating func copy(from source: inout SetAside, _ connection: Connection) throws(MigrationError) {
    var failure: DatabaseError? = DatabaseError(
      code: .notADatabase, message: "nothing of it can be read, since its first page is lost", path: source.files[0],
      operation: "recover")
    var recovery = self
    Salvage.run(&source, into: connection) { connection in
      do throws(DatabaseError) {
        try recovery.copyMessages(connection)
        failure = nil
      } catch {
        failure = error
      }
    }
    self = recovery
    kept = source.kept
    lost = source.lost
    if let failure { throw .failed(failure) }
  }

  private mutating func copyMessages(_ connection: Connection) throws(DatabaseError) {
    let newest = try Recovery.newest(connection)
    var first: Int64 = 1
    while first <= newest {
      try copy(first...min(newest, first + Recovery.range - 1), connection)
      first += Recovery.range
    }
    messages = try connection.integer("SELECT count(*) FROM main.message")
  }

  /// The last id that was given, by whichever page tells it.
  private static func newest(_ connection: Connection) throws(DatabaseError) -> Int64 {
    do throws(DatabaseError) {
      let last = try connection.integer("SELECT seq FROM damaged.sqlite_sequence WHERE name = 'message'")
      if last > 0 { return last }
    } catch  where error.isCorrupt {}
    return try connection.integer("SELECT max(id) FROM damaged.message")
  }

  /// Copies a range of ids; where that fails, its halves, down to the rows that can't be read.
  private mutating func copy(_ ids: ClosedRange<Int64>, _ connection: Connection) throws(DatabaseError) {
    do throws(DatabaseError) {
      try connection.transaction { () throws(DatabaseError) in
        let copy = try connection.statement(
          "INSERT OR IGNORE INTO main.message SELECT * FROM temp.old_message WHERE id BETWEEN ? AND ?")
        try copy.bind(ids.lowerBound, at: 1)
        try copy.bind(ids.upperBound, at: 2)
        try copy.run()
      }
    } catch  where error.isCorrupt || error.isConstraint {
      guard ids.lowerBound < ids.upperBound else {
        unreadable += 1
        return
      }
      let middle = (ids.lowerBound + ids.upperBound) / 2
      try copy(ids.lowerBound...middle, connection)
      try copy(middle + 1...ids.upperBound, connection)
    }
  }
}
