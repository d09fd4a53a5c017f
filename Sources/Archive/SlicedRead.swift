import SQLite

/// A long read, done in slices of a few milliseconds so that writes go on between them.
public protocol SlicedRead: Sendable {
  associatedtype Output: Sendable
  /// Whether it looks at the full-text index, which then must have caught up first.
  var needsIndex: Bool { get }
  /// Does the next slice; the result when that was the last one.
  mutating func advance(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> Output?
}

/// A place in a list of messages, from which reading goes on.
public protocol MessageCursor: Sendable {
  var needsIndex: Bool { get }
  /// The next messages, perhaps none; nil at the end of the list.
  mutating func nextSlice(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> [MessageRow]?
}

/// What one slice may cost: rows looked at, and bytes of text given back.
enum SliceLimit {
  static let rows = 500
  static let bytes = 512 * 1024
}

/// Some messages of a list, and where to go on.
public struct MessagePage<Cursor: MessageCursor>: Sendable {
  public let rows: [MessageRow]
  /// Where the next page starts; nil when this was the last.
  public let next: Cursor?
}

/// Reads a page of at least `size` messages, as long as there are so many. One that may not look at all of them ends early: such a
/// page is shorter, and has a `next` all the same.
public struct PageRead<Cursor: MessageCursor>: SlicedRead {
  private var cursor: Cursor
  private let size: Int
  private var slices: Int
  private var rows: [MessageRow] = []

  /// - Parameter candidates: so many messages are looked at, at most; rounded up to whole slices.
  public init(_ cursor: Cursor, size: Int, lookingAt candidates: Int = .max) {
    self.cursor = cursor
    self.size = size
    slices = (candidates - 1) / SliceLimit.rows + 1
  }

  public var needsIndex: Bool { cursor.needsIndex }

  public mutating func advance(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> MessagePage<Cursor>? {
    guard let slice = try cursor.nextSlice(queries) else { return MessagePage(rows: rows, next: nil) }
    rows += slice
    slices -= 1
    return rows.count >= size || slices <= 0 ? MessagePage(rows: rows, next: cursor) : nil
  }
}

extension MessageRow {
  /// About what it takes in memory.
  var textSize: Int { (self.body?.utf8.count ?? 0) + (self.rawXML?.utf8.count ?? 0) + 256 }
}
