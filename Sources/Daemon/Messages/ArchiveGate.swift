import Archive
import EventLoop
import SQLite
import XMPPClient

/// The way into the archive: in order, and nothing lost while it can't be written.
///
/// A write that fails for want of space or for another fault that may pass is held, with all that follow, and tried again
/// every two seconds; meanwhile nobody is told that it is done, and `onPressure` stops the reading, so that the server
/// keeps what it can't deliver.
@LoopActor
final class ArchiveGate {
  typealias Work<T> = @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> T

  /// Work that waits, or is under way, and about how many bytes it holds in memory.
  private struct Load {
    var count = 0
    var bytes = 0
    var isHigh: Bool { count >= 1_024 || bytes >= 8_388_608 }
    var isLow: Bool { count <= 256 && bytes <= 2_097_152 }
  }

  /// Tells when reading should stop (true) and when it may go on.
  var onPressure: @LoopActor (Bool) -> Void = { _ in }
  /// The archive failed, or works again (nil).
  var onFault: @LoopActor (ArchiveError?) -> Void = { _ in }
  /// A write that can never succeed was dropped.
  var onDropped: @LoopActor (ArchiveError) -> Void = { _ in }
  /// The archive can't be trusted any more: the process must end. Called once.
  var onFatal: @LoopActor (ArchiveError) -> Void = { _ in }
  /// All that was submitted is done.
  var onIdle: @LoopActor () -> Void = {}

  let archive: Archive
  /// Why the archive can't be written now; nil when it can, as far as is known.
  private(set) var fault: ArchiveError?
  let scheduler: any Scheduler
  private static let retryInterval = Duration.seconds(2)
  private var load = Load()
  private var isUnderPressure = false
  private var isFatal = false
  /// Attempts that the archive has not answered yet.
  private var underWay = 0
  /// What failed, in order; and what came since, which goes behind it.
  private var failed: [@LoopActor () -> Void] = []
  private var waiting: [@LoopActor () -> Void] = []
  private var retryTimer: (any ScheduledWork)?

  init(_ archive: Archive, scheduler: any Scheduler) {
    self.archive = archive
    self.scheduler = scheduler
  }

  var isIdle: Bool { load.count == 0 }
  /// Writes that are not done yet.
  var pending: Int { load.count }

  /// Commits `work` and then calls `done` with what it returned, or `dropped` when it can never be committed. `bytes`:
  /// about what it holds in memory.
  func write<T: Sendable>(
    bytes: Int = 256, _ work: @escaping Work<T>, done: @escaping @LoopActor (T) -> Void = { _ in },
    dropped: @escaping @LoopActor () -> Void = {}
  ) {
    load.count += 1
    load.bytes += bytes
    updatePressure()
    if fault != nil {
      waiting.append { self.attempt(bytes, work, done, dropped) }
    } else {
      attempt(bytes, work, done, dropped)
    }
  }

  private func attempt<T: Sendable>(
    _ bytes: Int, _ work: @escaping Work<T>, _ done: @escaping @LoopActor (T) -> Void,
    _ dropped: @escaping @LoopActor () -> Void
  ) {
    underWay += 1
    archive.write(work) { [self] result in
      // The archive delivers on the loop (`Daemon.Parts`).
      LoopActor.assumeIsolated {
        underWay -= 1
        switch result {
        case .success(let value):
          recovered()
          finish(bytes)
          done(value)
        case .failure(let error) where error.mayPass:
          // What was handed in behind it fails as well (`Archive.write`), so this keeps the order.
          failed.append { self.attempt(bytes, work, done, dropped) }
          fail(error)
        case .failure(let error):
          finish(bytes)
          drop(error)
          if !error.isFatal { dropped() }
        }
        if load.count == 0 { onIdle() }
      }
    }
  }

  private func drop(_ error: ArchiveError) {
    guard error.isFatal else { return onDropped(error) }
    if !isFatal { onFatal(error) }
    isFatal = true
  }

  private func finish(_ bytes: Int) {
    load.count -= 1
    load.bytes -= bytes
    updatePressure()
  }

  private func updatePressure() {
    let should = fault != nil || (isUnderPressure ? !load.isLow : load.isHigh)
    guard should != isUnderPressure else { return }
    isUnderPressure = should
    onPressure(should)
  }

  private func fail(_ error: ArchiveError) {
    if fault == nil {
      fault = error
      onFault(error)
      updatePressure()
    }
    if retryTimer == nil { scheduleRetry() }
  }

  private func scheduleRetry() {
    retryTimer = scheduler.schedule(after: Self.retryInterval) { [weak self] in self?.retry() }
  }

  private func retry() {
    // What still hangs in the archive comes before what is held.
    guard underWay == 0 else { return scheduleRetry() }
    retryTimer = nil
    let again = failed + waiting
    failed = []
    waiting = []
    for attempt in again { attempt() }
  }

  private func recovered() {
    guard fault != nil else { return }
    fault = nil
    onFault(nil)
    updatePressure()
    // What came meanwhile follows what was tried again just now.
    let next = waiting
    waiting = []
    for attempt in next { attempt() }
  }
}
