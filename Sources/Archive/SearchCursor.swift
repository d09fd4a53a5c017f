import SQLite

/// Messages that hold all the words of a query and that a filter admits, newest first.
public struct SearchCursor: MessageCursor {
  private let query: SearchQuery
  private let filter: MessageFilter
  /// How many may still be given; nil: all.
  private var remaining: Int?
  /// Only messages with a smaller id are still to come.
  private var below = Int64.max
  private var source: Source

  /// Where the words are looked up.
  enum Source: Sendable {
    /// The archive's own index.
    case index
    /// A reader's index in memory of the messages after `mark`, which the archive's own does not hold yet; then the latter.
    case tail(after: Int64)
  }

  /// At most `limit` messages (nil: all).
  public init(_ query: SearchQuery, _ filter: MessageFilter = MessageFilter(), limit: Int? = nil) {
    self.init(query, filter, limit: limit, source: .index)
  }

  private init(_ query: SearchQuery, _ filter: MessageFilter, limit: Int?, source: Source) {
    self.query = query
    self.filter = filter
    self.remaining = limit
    self.source = source
  }

  /// The same search, of the tail after `mark` first.
  func startingInTail(after mark: Int64) -> SearchCursor {
    SearchCursor(query, filter, limit: remaining, source: .tail(after: mark))
  }

  public var needsIndex: Bool { true }

  public mutating func nextSlice(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> [MessageRow]? {
    if let remaining, remaining <= 0 { return nil }
    let candidates = try candidates(queries)
    if candidates.isEmpty {
      guard case .tail(let mark) = source else { return nil }
      source = .index
      below = mark + 1
      return []
    }
    var found: [MessageRow] = []
    var bytes = 0
    for id in candidates {
      guard bytes < SliceLimit.bytes, found.count < remaining ?? .max else { break }
      below = id
      if let row = try message(id, queries) {
        bytes += row.textSize
        found.append(row)
      }
    }
    remaining = remaining.map { $0 - found.count }
    return found
  }

  /// The next ids that the index gives.
  private func candidates(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> [Int64] {
    let sql: StaticString =
      switch source {
      case .index:
        "SELECT rowid FROM message_text WHERE message_text MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
      case .tail: "SELECT rowid FROM temp.tail_text WHERE tail_text MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
      }
    let rows = try queries.connection.statement(sql)
    try rows.bind(query.expression, at: 1)
    try rows.bind(below, at: 2)
    try rows.bind(Int64(SliceLimit.rows), at: 3)
    var ids: [Int64] = []
    try rows.forEachRow { ids.append($0.integer(at: 0)) }
    return ids
  }

  private func message(_ id: Int64, _ queries: borrowing ArchiveQueries) throws(DatabaseError) -> MessageRow? {
    let row = try queries.connection.statement(MessageColumns.byID)
    defer { row.reset() }
    try row.bind(id, at: 1)
    return try row.step() && filter.admits(row) ? MessageColumns.read(row) : nil
  }
}
