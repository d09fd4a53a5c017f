import Glibc
import SQLite

/// Reads an archive from outside the daemon, whether that runs or not, and never writes to it. Blocks; for one thread.
public final class ArchiveReader {
  public let queries: ArchiveQueries
  let connection: Connection
  /// What the file was like when it was opened as one that nobody writes; nil: others may write.
  private let untouched: FileState?
  /// Messages after this one were not in the archive's index when the tail was read; nil: not looked yet.
  private var tailStart: Int64?

  private init(_ connection: Connection, untouched: FileState?) {
    self.connection = connection
    self.untouched = untouched
    queries = ArchiveQueries(connection)
  }

  /// Opens an archive that exists and has this program's schema.
  public static func open(path: String) throws(ArchiveError) -> ArchiveReader {
    guard access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      throw .unusable(path: path, reason: "can't be read (\(reason)); check [archive] path and who you are")
    }
    // With a log beside it, the file is in use or was left by a crash, and readers share memory to find their way in
    // the log. Without, it is whole, and not even that shared memory may be created.
    let state = FileState(path)
    let isAlone = !state.isShared
    let connection: Connection
    do throws(DatabaseError) {
      connection = try Connection(path: path, access: isAlone ? .immutable : .readOnly)
    } catch {
      if error.code.primary == .notADatabase, !Damage.wasOurs(path: path) { throw .notAnArchive(path: path) }
      throw ArchiveError(error)
    }
    let version: Int
    do throws(MigrationError) {
      version = try Schema.migrator.check(connection)
    } catch {
      throw ArchiveError(error, path: path)
    }
    guard version == Schema.migrator.latestVersion else {
      throw .olderSchema(path: path, found: version, known: Schema.migrator.latestVersion)
    }
    return ArchiveReader(connection, untouched: isAlone ? state : nil)
  }

  /// Opens the archive for something long, and does it. If a daemon has begun to write in the meantime to a file that
  /// nobody had open, what was read may be of two moments, so it is done again.
  public static func withReader<Result>(
    path: String, _ body: (ArchiveReader) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    while true {
      let reader = try ArchiveReader.open(path: path)
      do throws(ArchiveError) {
        let result = try body(reader)
        if reader.isConsistent { return result }
      } catch {
        if reader.isConsistent { throw error }
      }
    }
  }

  /// Whether all that was read is of one state of the file, or of states that SQLite keeps apart.
  private var isConsistent: Bool { untouched.map { $0 == FileState(connection.path) } ?? true }

  /// All messages that `filter` admits, oldest first, until `body` answers false.
  public func export(
    _ filter: MessageFilter = MessageFilter(), _ body: (MessageRow) -> Bool
  ) throws(ArchiveError) {
    try forEach(in: ExportCursor(filter), body)
  }

  /// At most `limit` messages that match, newest first, until `body` answers false.
  public func search(
    _ query: SearchQuery, _ filter: MessageFilter = MessageFilter(), limit: Int? = nil, _ body: (MessageRow) -> Bool
  ) throws(ArchiveError) {
    let cursor = SearchCursor(query, filter, limit: limit)
    let start: Int64
    do throws(DatabaseError) {
      start = try indexTail()
    } catch {
      throw ArchiveError(error)
    }
    try forEach(in: cursor.startingInTail(after: start), body)
  }

  public func statistics() throws(ArchiveError) -> Statistics {
    var read = StatisticsRead()
    do throws(DatabaseError) {
      while true {
        if let statistics = try read.advance(queries) { return statistics }
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  private func forEach(in cursor: some MessageCursor, _ body: (MessageRow) -> Bool) throws(ArchiveError) {
    var cursor = cursor
    do throws(DatabaseError) {
      while let slice = try cursor.nextSlice(queries) {
        for row in slice where !body(row) { return }
      }
    } catch {
      throw ArchiveError(error)
    }
  }

  /// Indexes in memory what the archive's index does not hold yet.
  private func indexTail() throws(DatabaseError) -> Int64 {
    if let tailStart { return tailStart }
    try connection.execute(
      """
      CREATE VIRTUAL TABLE temp.tail_text USING fts5 (
        subject, body, content = '', columnsize = 0,
        tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'")
      """)
    // One transaction: the mark and the messages are of the same moment.
    let start = try connection.transaction { () throws(DatabaseError) in
      let start = try queries.indexedUpTo()
      _ = try Indexer.copyText(connection, into: .tail, after: start, minimum: .max) { false }
      return start
    }
    tailStart = start
    return start
  }
}
