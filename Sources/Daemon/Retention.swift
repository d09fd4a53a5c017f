import Archive
import EventLoop
import Systemd
import XMPPClient

/// Deletes messages that are older than `[archive] keep` says: a minute after the start, and then once a day.
@LoopActor
final class Retention {
  /// When the bot has had time to come online.
  private static let firstDelay = Duration.seconds(60)
  private static let interval = Duration.seconds(86_400)

  private let archive: Archive
  private let scheduler: any Scheduler
  private let wallClock: @LoopActor () -> Int64
  private let log: Logger
  private var timer: (any ScheduledWork)?
  private var isRunning = false

  /// A change is in force at once.
  var keep: Settings.ArchiveSettings.Keep {
    didSet {
      guard keep != oldValue else { return }
      run()
    }
  }

  init(
    _ archive: Archive, keep: Settings.ArchiveSettings.Keep, scheduler: any Scheduler, log: Logger,
    wallClock: @escaping @LoopActor () -> Int64
  ) {
    self.archive = archive
    self.keep = keep
    self.scheduler = scheduler
    self.log = log
    self.wallClock = wallClock
  }

  func start() { schedule(after: Self.firstDelay) }

  private func schedule(after delay: Duration) {
    timer = nil
    guard keep != .forever else { return }
    timer = scheduler.schedule(after: delay) { [weak self] in self?.run() }
  }

  private func run() {
    schedule(after: Self.interval)
    guard case .age(let age) = keep, !isRunning else { return }
    isRunning = true
    archive.prune(Prune(before: wallClock() - Int64(age.microseconds))) { [weak self] result in
      LoopActor.assumeIsolated { self?.finished(result) }
    }
  }

  private func finished(_ result: Result<Prune, ArchiveError>) {
    isRunning = false
    switch result {
    case .success(let prune) where prune.deleted > 0:
      log.log(.archivePruned, "\(prune.deleted) messages were older than `keep` in [archive] says and are deleted")
    case .success, .failure(.closed): break
    case .failure(let error): log.log(.archiveError, at: .warning, "old messages could not be deleted: \(error)")
    }
  }
}
