import SQLite

/// What the archive holds.
public struct Statistics: Sendable, Hashable {
  public struct Line: Sendable, Hashable {
    public let direction: NewMessage.Direction
    public let kind: NewMessage.Kind
    public internal(set) var count: Int64
    /// Microseconds since 1970.
    public internal(set) var first: Int64
    public internal(set) var last: Int64
  }
  /// One line for each direction and kind that occurs.
  public internal(set) var lines: [Line] = []
  /// Messages that the full-text index does not hold yet, at most.
  public internal(set) var unindexed: Int64 = 0
  /// Bytes of the database file and of its write-ahead log.
  public internal(set) var fileSize: Int64 = 0
  public internal(set) var walSize: Int64 = 0
  /// Bytes in the file that are free to be used again.
  public internal(set) var freeSize: Int64 = 0

  public var count: Int64 { lines.reduce(0) { $0 + $1.count } }
}

/// Counts everything, in slices.
public struct StatisticsRead: SlicedRead {
  private var result = Statistics()
  private var after: Int64 = 0
  /// Ids looked at in one slice.
  private static let step: Int64 = 10_000

  public init() {}

  public var needsIndex: Bool { false }

  public mutating func advance(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> Statistics? {
    let newest = try queries.newestID()
    if after < newest {
      try count(queries.connection, upTo: after + StatisticsRead.step)
      return nil
    }
    result.unindexed = max(0, newest - (try queries.indexedUpTo()))
    result.freeSize = try queries.freeSize()
    result.fileSize = sizeOfFile(queries.connection.path)
    result.walSize = sizeOfFile(queries.connection.path + "-wal")
    return result
  }

  private mutating func count(_ connection: Connection, upTo last: Int64) throws(DatabaseError) {
    let rows = try connection.statement(
      """
      SELECT direction, kind, count(*), min(time), max(time) FROM message WHERE id > ? AND id <= ? GROUP BY 1, 2
      """)
    defer { rows.reset() }
    try rows.bind(after, at: 1)
    try rows.bind(last, at: 2)
    after = last
    while try rows.step() {
      guard let direction = NewMessage.Direction(rawValue: rows.text(at: 0)),
        let kind = NewMessage.Kind(rawValue: rows.text(at: 1))
      else { continue }
      result.add(
        Statistics.Line(
          direction: direction, kind: kind, count: rows.integer(at: 2), first: rows.integer(at: 3),
          last: rows.integer(at: 4)))
    }
  }
}

extension Statistics {
  fileprivate mutating func add(_ new: Line) {
    guard let known = lines.firstIndex(where: { $0.direction == new.direction && $0.kind == new.kind }) else {
      return lines.append(new)
    }
    lines[known].count += new.count
    lines[known].first = min(lines[known].first, new.first)
    lines[known].last = max(lines[known].last, new.last)
  }
}
