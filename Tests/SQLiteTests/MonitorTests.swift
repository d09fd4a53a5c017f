import Glibc
import SQLite
import Testing

@Suite("Threads and monitors")
struct MonitorTests {
  @Test("who waits is woken by the change it waits for")
  func wakes() throws {
    let monitor = Monitor(0)
    let thread = try DatabaseThread {
      for _ in 1...1_000 {
        monitor.signal {
          $0 += 1
          return true
        }
      }
    }
    #expect(monitor.wait(until: nil, for: { $0 == 1_000 }, { $0 }) == 1_000)
    thread.join()
  }

  @Test("a wait ends at its deadline")
  func deadline() {
    #expect(Monitor(false).wait(until: 1, for: { $0 }, { $0 }) == false)
  }

  @Test("joining twice is joining once")
  func joinTwice() throws {
    let count = Monitor(0)
    let thread = try DatabaseThread { count.withLock { $0 += 1 } }
    thread.join()
    thread.join()
    #expect(count.withLock { $0 } == 1)
  }

  @Test("signals are blocked on the thread and not on the one that started it")
  func signals() throws {
    @Sendable func isBlocked() -> Bool {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      return sigismember(&mask, SIGTERM) == 1
    }
    var before = sigset_t()
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let inside = Monitor(false)
    try DatabaseThread { inside.withLock { $0 = isBlocked() } }.join()
    #expect(inside.withLock { $0 })
    #expect(!isBlocked())
  }
}
