import SQLite

/// How many messages there are. Reads one index from end to end: some 30 ms for each million.
public struct RowCountRead: SlicedRead {
  public init() {}

  public var needsIndex: Bool { false }

  public mutating func advance(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> Int64? {
    try queries.connection.integer("SELECT count(*) FROM message")
  }
}
