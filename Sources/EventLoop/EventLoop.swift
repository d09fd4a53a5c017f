import CLinux
import CSystemd
import Glibc

/// The one thread on which everything but the database runs: an sd-event loop that is also the executor of
/// `LoopActor`, so that a descriptor's handler and a Swift task are isolated from each other by the compiler.
///
/// Reading, timers and signals are sd-event sources (`DescriptorSource`, `TimerSource`, `SignalSource`); other
/// threads come in by `post(_:)`. An idle loop sleeps in one `epoll_wait` and wakes for nothing.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
  // @unchecked: `event` is used on the loop's thread only; `queue` and `owner` are guarded by `mutex`.

  /// The loop of this process.
  public static let main = EventLoop()

  private enum Work {
    case job(UnownedJob)
    case closure(@Sendable @LoopActor () -> Void)
  }

  let event: OpaquePointer
  private let wakeup: Int32
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var queue: [Work] = []
  private var draining: [Work] = []
  private var owner: pthread_t?

  private init() {
    var created: OpaquePointer?
    let result = sd_event_new(&created)
    guard result >= 0, let created else { preconditionFailure("sd_event_new: \(String(cString: strerror(-result)))") }
    event = created
    wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    precondition(wakeup >= 0, "eventfd: \(String(cString: strerror(errno)))")
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    let added = sd_event_add_io(
      event, nil, wakeup, UInt32(EPOLLIN.rawValue),
      { _, descriptor, _, context in
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
        if let context { Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().drain() }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(added >= 0, "sd_event_add_io: \(String(cString: strerror(-added)))")
  }

  /// Runs the loop on the calling thread until `exit(_:)`; returns the code given there.
  public func run() -> Int32 {
    locked { owner = pthread_self() }
    let code = sd_event_loop(event)
    precondition(code >= 0, "sd_event_loop: \(String(cString: strerror(-code)))")
    return code
  }

  /// Ends `run()` after the handlers that are due now.
  @LoopActor public func exit(_ code: Int32) {
    sd_event_exit(event, code)
  }

  /// Runs `work` on the loop, after all that was posted before it. From any thread.
  public func post(_ work: @escaping @Sendable @LoopActor () -> Void) {
    push(.closure(work))
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    push(.job(UnownedJob(job)))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// True on the loop's own thread.
  public var isCurrent: Bool {
    locked { owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  public func checkIsolated() {
    precondition(isCurrent, "this runs on the event loop's thread only")
  }

  private func push(_ work: Work) {
    let first = locked {
      queue.append(work)
      return queue.count == 1
    }
    if first {
      var one: UInt64 = 1
      write(wakeup, &one, MemoryLayout<UInt64>.size)
    }
  }

  private func drain() {
    locked { swap(&queue, &draining) }
    for work in draining {
      switch work {
      case .job(let job):
        job.runSynchronously(on: asUnownedSerialExecutor())
      case .closure(let closure): LoopActor.assumeIsolated(closure)
      }
    }
    draining.removeAll(keepingCapacity: true)
  }

  private func locked<T>(_ body: () -> T) -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
