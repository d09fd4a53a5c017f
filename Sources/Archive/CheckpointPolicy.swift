/// When the write-ahead log is moved into the database, and what is said when a reader keeps it from being cut.
///
/// SQLite begins the log anew by itself once all of it has been moved and nobody reads it. A reader whose transaction stays
/// open, such as a forgotten `sqlite3`, prevents that, and the log grows.
struct CheckpointPolicy: Hashable {
  /// A checkpoint is due when the log has grown by so many pages of 4 KiB.
  let step: Int
  /// With more pages than these the log is held by somebody: 64 MiB.
  let bound: Int
  /// How often cutting a log that is held is tried.
  static let retryInterval = Monotonic.milliseconds(10_000)

  private var pages = 0
  /// Pages at the last checkpoint.
  private var attempted = 0
  /// Since when a reader keeps the log from being moved or begun anew; nil: nobody does.
  private var heldSince: UInt64?
  private var isTold = false
  private var nextTry: UInt64 = 0

  init(step: Int = 2_000, bound: Int = 16_384) {
    self.step = step
    self.bound = bound
  }

  enum Action: Equatable {
    case none
    /// Move what can be moved.
    case passive
    /// Move all and cut the log, unless somebody is in the way.
    case truncate
  }

  enum Notice: Equatable {
    /// The log has outgrown its bound; nanoseconds since a checkpoint could first not do its work.
    case held(UInt64)
    /// It is short again; nanoseconds that it was held.
    case freed(UInt64)
  }

  /// When to ask again although nothing was written; nil: never.
  var deadline: UInt64? { isTold ? nextTry : nil }

  /// What to do with a log of `pages`.
  mutating func action(pages: Int, now: UInt64) -> Action {
    if pages < self.pages { attempted = 0 }
    self.pages = pages
    if isTold { return now >= nextTry || pages < attempted ? .truncate : .none }
    guard pages - attempted >= step else { return .none }
    return pages >= bound ? .truncate : .passive
  }

  /// The action was done; `isComplete`: for `.passive` all was moved, for `.truncate` the log was cut as well.
  mutating func done(_ action: Action, isComplete: Bool, now: UInt64) -> Notice? {
    attempted = pages
    if !isComplete || pages >= bound { heldSince = heldSince ?? now }
    if action == .passive, isComplete, pages < bound { heldSince = nil }
    guard action == .truncate else { return nil }
    nextTry = now + CheckpointPolicy.retryInterval
    let time = now - (heldSince ?? now)
    if !isComplete {
      defer { isTold = true }
      return isTold ? nil : .held(time)
    }
    pages = 0
    attempted = 0
    heldSince = nil
    defer { isTold = false }
    return isTold ? .freed(time) : nil
  }
}
