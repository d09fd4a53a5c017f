import Glibc

/// Nanoseconds of the monotonic clock.
enum Monotonic {
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  static func milliseconds(_ count: UInt64) -> UInt64 { count * 1_000_000 }
}
