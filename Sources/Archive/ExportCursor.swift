import SQLite

/// All messages that a filter admits, oldest first.
public struct ExportCursor: MessageCursor {
  private let filter: MessageFilter
  private var after: Int64

  /// Starts after message `after`; 0 is the beginning.
  public init(_ filter: MessageFilter = MessageFilter(), after: Int64 = 0) {
    self.filter = filter
    self.after = after
  }

  public var needsIndex: Bool { false }

  public mutating func nextSlice(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> [MessageRow]? {
    let rows = try queries.connection.statement(
      filter.room != nil ? MessageColumns.ofRoom : filter.peer != nil ? MessageColumns.ofPeer : MessageColumns.all)
    defer { rows.reset() }
    try rows.bind(after, at: 1)
    try rows.bind(Int64(SliceLimit.rows), at: 2)
    if let address = filter.room ?? filter.peer { try rows.bind(address, at: 3) }

    var found: [MessageRow] = []
    var seen = 0
    var bytes = 0
    while bytes < SliceLimit.bytes, try rows.step() {
      seen += 1
      after = rows.integer(at: MessageColumns.id)
      guard filter.admits(rows) else { continue }
      let row = MessageColumns.read(rows)
      bytes += row.textSize
      found.append(row)
    }
    return seen == 0 ? nil : found
  }
}
