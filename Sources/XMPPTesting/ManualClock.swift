import EventLoop
import XMPPClient

/// Time that passes only when a test says so.
@LoopActor
public final class ManualClock: Scheduler {
  public private(set) var now = ContinuousClock.now

  public init() {}

  private final class Work: ScheduledWork {
    let time: ContinuousClock.Instant
    var body: (@LoopActor () -> Void)?

    init(time: ContinuousClock.Instant, body: @escaping @LoopActor () -> Void) {
      self.time = time
      self.body = body
    }

    func cancel() { body = nil }
  }

  /// Held weakly, as the real one: who lets go of it cancels it.
  private struct Reference {
    weak var work: Work?
  }

  private var references: [Reference] = []

  public func schedule(after delay: Duration, _ work: @escaping @LoopActor () -> Void) -> any ScheduledWork {
    let work = Work(time: now.advanced(by: max(.zero, delay)), body: work)
    references.append(Reference(work: work))
    return work
  }

  /// Moves the clock, doing what becomes due in its order.
  public func advance(by duration: Duration) {
    let end = now.advanced(by: duration)
    while let next = due(until: end) {
      now = max(now, next.time)
      let body = next.body
      next.body = nil
      body?()
    }
    now = end
  }

  private func due(until end: ContinuousClock.Instant) -> Work? {
    references.removeAll { $0.work?.body == nil }
    return references.compactMap(\.work).filter { $0.time <= end }.min { $0.time < $1.time }
  }
}
