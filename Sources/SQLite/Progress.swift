import CSQLite

extension Connection {
  /// Tells `tell` the pages that were read from the file since `body` began, again and again while it runs
  /// (https://www.sqlite.org/c3ref/progress_handler.html).
  public func tellingPagesRead<Failure: Error>(
    to tell: @escaping (Int) -> Void, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let observer = Observer(tell, start: pagesRead) { [unowned self] in pagesRead }
    sqlite3_progress_handler(
      handle, 100_000,
      { context in
        if let context { Unmanaged<Observer>.fromOpaque(context).takeUnretainedValue().look() }
        return 0
      }, Unmanaged.passUnretained(observer).toOpaque())
    defer { withExtendedLifetime(observer) { sqlite3_progress_handler(handle, 0, nil, nil) } }
    try body()
  }

  /// Pages that were not in the cache.
  private var pagesRead: Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 0)
    return Int(current)
  }

  private final class Observer {
    private let tell: (Int) -> Void
    private let start: Int
    private let count: () -> Int

    init(_ tell: @escaping (Int) -> Void, start: Int, count: @escaping () -> Int) {
      self.tell = tell
      self.start = start
      self.count = count
    }

    func look() { tell(count() - start) }
  }
}
