import EventLoop

/// Time, as the session sees it: the loop's own or, in tests, one that is moved by hand.
@LoopActor
public protocol Scheduler {
  var now: ContinuousClock.Instant { get }
  /// Calls `work` once, `delay` from now, unless the result is cancelled or let go before.
  func schedule(after delay: Duration, _ work: @escaping @LoopActor () -> Void) -> any ScheduledWork
}

/// Work that waits for its time. Letting go of it cancels it.
@LoopActor
public protocol ScheduledWork: AnyObject {
  func cancel()
}

extension TimerSource: ScheduledWork {}

/// The loop's clock, which goes on while the machine is suspended.
public struct LoopScheduler: Scheduler {
  public nonisolated init() {}

  public var now: ContinuousClock.Instant { .now }

  public func schedule(after delay: Duration, _ work: @escaping @LoopActor () -> Void) -> any ScheduledWork {
    TimerSource(after: delay, slack: delay / 100, handler: work)
  }
}
