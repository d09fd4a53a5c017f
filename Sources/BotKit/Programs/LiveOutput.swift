import EventLoop

/// Shows what a program prints while it runs.
@LoopActor
final class LiveOutput {
  private var throttle = LiveThrottle()
  private var timer: TimerSource?
  private let show: @LoopActor () -> Void

  init(_ show: @escaping @LoopActor () -> Void) { self.show = show }

  /// There is more.
  func changed() {
    guard let delay = throttle.changed(at: .now) else { return }
    timer = TimerSource(after: delay) { [unowned self] in
      throttle.show(at: .now)
      show()
    }
  }

  /// Nothing is shown any more.
  func end() {
    timer?.cancel()
    timer = nil
  }
}
