import EventLoop
import Glibc

/// The process's event loop, running on a thread of its own for the length of a test run.
public enum LoopThread {
  private static let started: Void = {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        _ = EventLoop.main.run()
        return nil
      }, nil)
  }()

  /// Starts the loop when it is not running yet.
  public static func start() { started }
}

/// A value shared by closures on the loop.
@LoopActor
public final class Box<Value> {
  public var value: Value
  public init(_ value: Value) { self.value = value }
}
