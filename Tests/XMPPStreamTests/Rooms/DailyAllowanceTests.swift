import Testing
import XMPPStream

@Suite("What may be taken within a day")
struct DailyAllowanceTests {
  private let start = ContinuousClock.now
  private func at(_ hours: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(hours * 3_600)) }

  @Test("is bounded within any 24 hours, and comes back as it went")
  func bound() {
    var allowance = DailyAllowance(most: 10)
    #expect(allowance.left(now: at(0)) == 10 && allowance.wait(now: at(0)) == nil)
    allowance.take(4, now: at(0))
    allowance.take(6, now: at(6))
    #expect(allowance.left(now: at(6)) == 0)
    #expect(allowance.wait(now: at(6)) == .seconds(18 * 3_600))
    #expect(allowance.left(now: at(23)) == 0)
    #expect(allowance.left(now: at(24)) == 4 && allowance.wait(now: at(24)) == nil)
    allowance.take(4, now: at(24))
    #expect(allowance.left(now: at(29)) == 0)
    #expect(allowance.left(now: at(30)) == 6)
  }

  @Test("counts what comes one by one, and more than is granted")
  func ones() {
    var allowance = DailyAllowance(most: 3)
    for second in 0..<5 { allowance.take(now: start.advanced(by: .seconds(second))) }
    #expect(allowance.left(now: start) == 0)
    // All of it counts as taken with the last.
    #expect(allowance.wait(now: start.advanced(by: .seconds(4))) == .seconds(86_400))
    #expect(allowance.left(now: start.advanced(by: .seconds(86_403))) == 0)
    #expect(allowance.left(now: start.advanced(by: .seconds(86_404))) == 3)
  }
}
