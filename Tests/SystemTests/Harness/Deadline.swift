import Glibc

/// The time by which something must have happened.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(after time: Duration) { end = .now.advanced(by: time) }

  var hasPassed: Bool { end <= .now }

  /// Waits until one of the descriptors can be read; false when the time is over.
  func awaitReadable(_ descriptors: [Int32]) -> Bool {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { return false }
      let result = poll(&entries, nfds_t(entries.count), Int32(left / .milliseconds(1)) + 1)
      if result > 0 { return true }
      if result < 0, errno != EINTR { return false }
    }
  }
}
