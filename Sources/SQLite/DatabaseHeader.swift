import Glibc

/// The marks in the first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html, 1.3), read without
/// SQLite: opening a file that turns out to be someone else's must not change it.
public struct DatabaseHeader: Sendable, Hashable {
  public let userVersion: Int
  public let applicationID: Int32
  /// Pages in the file. A single one has room for no table.
  public let pageCount: Int
  /// Bytes in the file, without its log; nil where its writer kept no count.
  public let size: Int64?

  /// Reads `descriptor`; nil if it holds no SQLite database.
  public init?(descriptor: Int32) {
    let header = [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, 100, 0))
    }
    guard header.count == 100, header.starts(with: "SQLite format 3\0".utf8) else { return nil }
    func integer(at offset: Int) -> Int32 {
      header[offset..<offset + 4].reduce(0) { $0 << 8 | Int32($1) }
    }
    userVersion = Int(integer(at: 60))
    applicationID = integer(at: 68)
    pageCount = Int(UInt32(bitPattern: integer(at: 28)))
    let pageSize = Int64(header[16]) << 8 | Int64(header[17])
    // The count holds only if the change counter was written together with it.
    size = integer(at: 24) == integer(at: 92) ? Int64(pageCount) * (pageSize == 1 ? 65_536 : pageSize) : nil
  }
}
