import JID
import Testing

@testable import BotKit

@Suite("Rate limit")
struct RateLimiterTests {
  let alice: Speaker
  let start = ContinuousClock.now

  init() throws { alice = Speaker(address: try JID("alice@example.org"), occupant: nil) }

  @Test("20/10s admits 20 at once, warns once, then refuses")
  func burst() {
    var limiter = RateLimiter(RateLimit(count: 20, per: .seconds(10)))
    let verdicts = (0..<30).map { _ in limiter.admit(alice, now: start) }
    #expect(verdicts == Array(repeating: .admitted, count: 20) + [.warn] + Array(repeating: .refused, count: 9))
  }

  @Test("a sender who goes on is admitted at the rate, and warned again only after a full pause")
  func steady() {
    var limiter = RateLimiter(RateLimit(count: 2, per: .seconds(10)))
    func admit(_ seconds: Int) -> RateLimiter.Verdict { limiter.admit(alice, now: start + .seconds(seconds)) }
    #expect([admit(0), admit(0), admit(0)] == [.admitted, .admitted, .warn])
    #expect([admit(5), admit(5), admit(9)] == [.admitted, .refused, .refused])
    #expect(admit(10) == .admitted)
    #expect([admit(21), admit(21), admit(21), admit(21)] == [.admitted, .admitted, .warn, .refused])
  }

  @Test("one sender's flood leaves another's bucket full")
  func apart() throws {
    var limiter = RateLimiter(RateLimit(count: 1, per: .seconds(10)))
    let bob = Speaker(address: try JID("bob@example.org"), occupant: nil)
    for _ in 0..<5 { _ = limiter.admit(alice, now: start) }
    #expect(limiter.admit(bob, now: start) == .admitted)
  }

  @Test("a crowd of senders is remembered only up to the capacity, the busiest longest")
  func bounded() throws {
    var limiter = RateLimiter(RateLimit(count: 3, per: .seconds(10)), speakers: 100)
    for _ in 0..<4 { _ = limiter.admit(alice, now: start) }
    for number in 0..<1000 {
      let stranger = Speaker(address: try JID("s\(number)@example.com"), occupant: nil)
      #expect(limiter.admit(stranger, now: start) == .admitted)
      #expect(limiter.remembered <= 100)
    }
    #expect(limiter.admit(alice, now: start) == .refused)
  }

  @Test("unlimited admits everything and remembers nobody")
  func unlimited() {
    var limiter = RateLimiter(nil)
    #expect((0..<1000).allSatisfy { _ in limiter.admit(alice, now: start) == .admitted })
    #expect(limiter.remembered == 0)
  }
}
