import Testing

@testable import Daemon

@Suite("Lines about refused stanzas")
struct NoticeThrottleTests {
  @Test("a flood writes a few lines, and the next one says how many are missing")
  func flood() {
    var throttle = NoticeThrottle()
    let start = ContinuousClock.now
    let lines = (0..<1_000).compactMap { _ in throttle.line("ignored", at: start) }
    #expect(lines == Array(repeating: "ignored", count: 20))
    #expect(throttle.line("ignored", at: start.advanced(by: .seconds(1))) == "ignored (and 980 more before it)")
    #expect(throttle.line("ignored", at: start.advanced(by: .seconds(2))) == "ignored")
  }
}
