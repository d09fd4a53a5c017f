import Archive
import EventLoop

/// How many messages the archive holds: counted now and then, since that takes a while in a large one, and carried on in
/// between by what came. Nobody waits for a count, so that a disk that hangs does not hide it.
@LoopActor
final class ArchiveRows {
  /// A count stands so long.
  private static let period = Duration.seconds(600)

  private let archive: Archive
  private var counted: (rows: Int64, at: ContinuousClock.Instant, total: Int64)?
  private var isCounting = false

  init(_ archive: Archive) { self.archive = archive }

  /// Nil before the first count is done. `total`: messages taken in since the beginning of time.
  func estimate(total: Int64, now: ContinuousClock.Instant) -> Int64? {
    if counted.map({ $0.at.duration(to: now) > Self.period }) ?? true { count(total) }
    return counted.map { max(0, $0.rows + total - $0.total) }
  }

  /// Counts anew.
  func count(_ total: Int64) {
    guard !isCounting else { return }
    isCounting = true
    archive.read(RowCountRead()) { [weak self] result in
      LoopActor.assumeIsolated {
        self?.isCounting = false
        if case .success(let rows) = result { self?.counted = (rows, .now, total) }
      }
    }
  }
}
