import SQLite

/// A write on its way: run on the database's thread, then told how it ended wherever completions are delivered.
// Sendable: the result is written by the database's thread alone, before the hand-over through `deliver`, and read after it.
class PendingWrite: @unchecked Sendable {
  /// That of the inbox when it was handed in.
  var generation = 0

  func run(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) {}
  /// Makes the outcome an error, whatever it was.
  func fail(_ error: ArchiveError) {}
  func complete() {}
}

// @unchecked: handed over by the inbox's lock and from then on used by the database's thread only.
final class Write<Value: Sendable>: PendingWrite, @unchecked Sendable {
  typealias Work = @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> Value
  typealias Completion = @Sendable (Result<Value, ArchiveError>) -> Void

  private let work: Work
  private let completion: Completion
  private var outcome: Result<Value, ArchiveError> = .failure(.closed)

  init(_ work: @escaping Work, _ completion: @escaping Completion) {
    self.work = work
    self.completion = completion
  }

  override func run(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) {
    outcome = .success(try work(transaction))
  }
  override func fail(_ error: ArchiveError) { outcome = .failure(error) }
  override func complete() { completion(outcome) }
}

/// A read on its way, in one slice or several.
// Sendable: as `PendingWrite`.
class PendingRead: @unchecked Sendable {
  /// The index must hold the messages up to this id first; nil: not asked yet.
  var awaitedIndex: Int64?
  var needsIndex: Bool { false }
  /// How it ended, if with an error.
  var error: ArchiveError? { nil }

  /// Does a slice; true when that was the last.
  func advance(_ queries: borrowing ArchiveQueries) -> Bool { true }
  func fail(_ error: ArchiveError) {}
  func complete() {}
}

// @unchecked: as `Write`.
final class Read<Slices: SlicedRead>: PendingRead, @unchecked Sendable {
  typealias Completion = @Sendable (Result<Slices.Output, ArchiveError>) -> Void

  private var slices: Slices
  private let completion: Completion
  private var outcome: Result<Slices.Output, ArchiveError> = .failure(.closed)

  init(_ slices: Slices, _ completion: @escaping Completion) {
    self.slices = slices
    self.completion = completion
  }

  override var needsIndex: Bool { slices.needsIndex }
  override var error: ArchiveError? { if case .failure(let error) = outcome { error } else { nil } }

  override func advance(_ queries: borrowing ArchiveQueries) -> Bool {
    do throws(DatabaseError) {
      guard let output = try slices.advance(queries) else { return false }
      outcome = .success(output)
    } catch {
      outcome = .failure(ArchiveError(error))
    }
    return true
  }
  override func fail(_ error: ArchiveError) { outcome = .failure(error) }
  override func complete() { completion(outcome) }
}

/// A read that is done at once.
struct SingleRead<Value: Sendable>: SlicedRead {
  let work: @Sendable (borrowing ArchiveQueries) throws(DatabaseError) -> Value
  var needsIndex: Bool { false }
  func advance(_ queries: borrowing ArchiveQueries) throws(DatabaseError) -> Value? { try work(queries) }
}
