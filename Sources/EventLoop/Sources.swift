import CLinux
import CSystemd
import Glibc

/// A descriptor watched by the loop. Watching ends with `cancel()` or with the object's life; the descriptor
/// itself stays the owner's to close, after that.
@LoopActor
public final class DescriptorSource {
  /// What a descriptor can be ready for (epoll's bits; hang-up and error are always told).
  public struct Events: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let readable = Events(rawValue: EPOLLIN.rawValue)
    public static let writable = Events(rawValue: EPOLLOUT.rawValue)
    public static let hangup = Events(rawValue: EPOLLHUP.rawValue)
    public static let error = Events(rawValue: EPOLLERR.rawValue)
  }

  private var source: OpaquePointer?
  private let handler: @LoopActor (Events) -> Void

  public init(_ descriptor: Int32, _ events: Events, handler: @escaping @LoopActor (Events) -> Void) {
    self.handler = handler
    let result = sd_event_add_io(
      EventLoop.main.event, &source, descriptor, events.rawValue,
      { _, _, ready, context in
        guard let context else { return 0 }
        let source = Unmanaged<DescriptorSource>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { source.handler(Events(rawValue: ready)) }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(result >= 0, "sd_event_add_io(\(descriptor)): \(String(cString: strerror(-result)))")
  }

  /// Changes what is waited for; an empty set pauses it (hang-ups are still told).
  public func watch(_ events: Events) {
    if let source { sd_event_source_set_io_events(source, events.rawValue) }
  }

  /// Ends the watching. Harmless when repeated.
  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }

  isolated deinit { cancel() }
}

/// A timer that fires once, `delay` from now, on a clock that goes on while the machine is suspended.
@LoopActor
public final class TimerSource {
  private var source: OpaquePointer?
  private let handler: @LoopActor () -> Void

  /// `slack`: how much later it may fire, so that the kernel can wake once for several timers.
  public init(after delay: Duration, slack: Duration = .milliseconds(1), handler: @escaping @LoopActor () -> Void) {
    self.handler = handler
    // From now, not from when this turn of the loop began, which is what sd-event takes for now.
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    let due = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1_000 + delay.microseconds
    let result = sd_event_add_time(
      EventLoop.main.event, &source, CLOCK_BOOTTIME, due, max(1, slack.microseconds),
      { _, _, context in
        guard let context else { return 0 }
        let timer = Unmanaged<TimerSource>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated {
          timer.cancel()
          timer.handler()
        }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(result >= 0, "sd_event_add_time: \(String(cString: strerror(-result)))")
  }

  /// The handler will not be called. Harmless when repeated or late.
  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }

  isolated deinit { cancel() }
}

/// A signal taken by the loop. The signal must be blocked before the first thread starts (`SignalSource.block`).
@LoopActor
public final class SignalSource {
  private var source: OpaquePointer?
  private let handler: @LoopActor () -> Void

  /// Blocks `signals` in the calling thread and in those it starts later.
  public nonisolated static func block(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  public init(_ signal: Int32, handler: @escaping @LoopActor () -> Void) {
    self.handler = handler
    let result = sd_event_add_signal(
      EventLoop.main.event, &source, signal,
      { _, _, context in
        guard let context else { return 0 }
        let source = Unmanaged<SignalSource>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { source.handler() }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(result >= 0, "sd_event_add_signal(\(signal)): \(String(cString: strerror(-result)))")
  }

  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }

  isolated deinit { cancel() }
}
