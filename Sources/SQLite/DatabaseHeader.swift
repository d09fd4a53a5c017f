import Glibc

/// The marks in the first 100 bytes of a database file (https://www.sqlite.org/fileformat2.html, 1.3), read without
/// SQLite: opening a file that turns out to be someone else's must not change it.
public struct DatabaseHeader: Sendable, Hashable {
  public let userVersion: Int
  public let applicationID: Int32
  /// Pages in the file. A single one has room for no table.
  public let pageCount: Int

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
    pageCount = Int(integer(at: 28))
  }
}
