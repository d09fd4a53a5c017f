import Glibc

/// State that threads share, with a condition to wait on. A pthread mutex, since ThreadSanitizer does not understand
/// `Synchronization.Mutex`.
// Sendable: the state is touched only while the mutex is held.
public final class Monitor<State>: @unchecked Sendable {
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  public init(_ state: sending State) {
    self.state = state
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  public func withLock<T>(_ body: (inout State) -> T) -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Changes the state, then wakes who waits if `body` says so.
  public func signal(_ body: (inout State) -> Bool) {
    if withLock(body) { pthread_cond_broadcast(condition) }
  }

  /// Waits until `ready`, but no longer than to `deadline` (nanoseconds of the monotonic clock; nil: for ever), then
  /// gives the state to `body`. `ready` may note in the state that someone waits.
  public func wait<T>(until deadline: UInt64?, for ready: (inout State) -> Bool, _ body: (inout State) -> T) -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !ready(&state) {
      guard let deadline else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
      if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { break }
    }
    return body(&state)
  }
}
