import TestSupport
import Archive
import SQLite

/// Time of the first test message: 2023-11-14T22:13:20Z.
let start: Int64 = 1_700_000_000_000_000

func message(_ body: String, peer: String = "alice@example.org") -> NewMessage {
  NewMessage(.in, .chat, peer: peer, time: start, body: body)
}

/// What a completion gives, to be waited for.
final class Outcome<Value: Sendable>: Sendable {
  private let value = Monitor<Result<Value, ArchiveError>?>(nil)

  func set(_ result: Result<Value, ArchiveError>) {
    value.signal {
      $0 = result
      return true
    }
  }

  func wait() -> Result<Value, ArchiveError> {
    value.wait(until: nil, for: { $0 != nil }, { $0 ?? .failure(.closed) })
  }
}

/// Completions run on the database's thread.
func openArchive(
  _ folder: TemporaryFolder, options: ArchiveOptions = ArchiveOptions()
) throws(ArchiveError) -> Archive {
  try Archive.open(path: folder.file("archive.db"), options: options) { $0() }
}

extension Archive {
  func writeAndWait<Value: Sendable>(
    _ work: @escaping @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> Value
  ) throws(ArchiveError) -> Value {
    let outcome = Outcome<Value>()
    write(work, completion: outcome.set)
    return try outcome.wait().get()
  }

  func readAndWait<Value: Sendable>(
    _ work: @escaping @Sendable (borrowing ArchiveQueries) throws(DatabaseError) -> Value
  ) throws(ArchiveError) -> Value {
    let outcome = Outcome<Value>()
    read(work, completion: outcome.set)
    return try outcome.wait().get()
  }

  func readAndWait<Slices: SlicedRead>(_ slices: Slices) throws(ArchiveError) -> Slices.Output {
    let outcome = Outcome<Slices.Output>()
    read(slices, completion: outcome.set)
    return try outcome.wait().get()
  }

  @discardableResult
  func insertAndWait(_ message: NewMessage) throws(ArchiveError) -> ArchiveTransaction.Insertion {
    try writeAndWait { transaction throws(DatabaseError) in try transaction.insert(message) }
  }

  /// Bodies found by the daemon's own search, newest first.
  func search(_ text: String, _ filter: MessageFilter = MessageFilter(), limit: Int? = nil) throws -> [String] {
    let cursor = SearchCursor(try SearchQuery(text), filter, limit: limit)
    return try readAndWait(PageRead(cursor, size: .max)).rows.compactMap(\.body)
  }
}

extension ArchiveReader {
  func bodies(_ filter: MessageFilter = MessageFilter()) throws -> [String] {
    var bodies: [String] = []
    try export(filter) {
      bodies.append($0.body ?? "")
      return true
    }
    return bodies
  }

  func search(_ text: String, _ filter: MessageFilter = MessageFilter(), limit: Int? = nil) throws -> [String] {
    var bodies: [String] = []
    try search(SearchQuery(text), filter, limit: limit) {
      bodies.append($0.body ?? "")
      return true
    }
    return bodies
  }
}
