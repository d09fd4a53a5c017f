import Glibc

/// A thread of its own for a connection: SQLite blocks on the disk, and who waits for the network must not.
/// Its stack is small, and signals never arrive on it.
// Sendable: what changes is behind the monitor.
public final class DatabaseThread: Sendable {
  private enum State { case running(pthread_t), joined }
  private let state: Monitor<State>
  private static let stackSize = 512 * 1024

  /// Starts the thread; it ends when `body` returns.
  public init(_ body: @escaping @Sendable () -> Void) throws(ThreadError) {
    let start = Unmanaged.passRetained(Start(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, DatabaseThread.stackSize)

    // A thread inherits the mask of the one that starts it.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP] { sigdelset(&all, fault) }
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      start.release()
      throw ThreadError(errno: code)
    }
    state = Monitor(.running(thread))
  }

  /// Waits for the thread's end.
  public func join() {
    let before = state.withLock { state in
      defer { state = .joined }
      return state
    }
    if case .running(let thread) = before { pthread_join(thread, nil) }
  }

  deinit {
    if case .running(let thread) = state.withLock({ $0 }) { pthread_detach(thread) }
  }

  private final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

/// A thread that the system did not grant.
public struct ThreadError: Error, Sendable, Hashable, CustomStringConvertible {
  public let errno: Int32
  public var description: String {
    "the database's thread can't start: \(String(cString: strerror(errno))); allow the service more tasks or memory"
  }
}
