import Testing
import XMPPClient
import XMPPStanzas
import XMPPStream

@Suite("When to connect again")
struct ReconnectPolicyTests {
  private let start = ContinuousClock.now
  private let conflict = StreamFailure.streamError(StreamError("conflict"))
  private let password = StreamFailure.authentication(.refused(name: "not-authorized", text: nil))

  @Test("a fault that may pass: the ceiling doubles from one second to sixty, and chance takes a part of it")
  func backOff() {
    var policy = ReconnectPolicy()
    let waits = (1...20).map { _ in policy.delay(after: .unreachable(""), at: start, random: 0.999_999_999) }
    let ceilings = [1.0, 2, 4, 8, 16, 32] + [Double](repeating: 60, count: 14)
    for (wait, ceiling) in zip(waits, ceilings) {
      #expect(wait / .seconds(1) > ceiling * 0.99 && wait / .seconds(1) <= ceiling)
    }
    #expect(policy.delay(after: .unreachable(""), at: start, random: 0) == .zero)
  }

  @Test("the longest wait stays a minute after a million attempts")
  func forEver() {
    var policy = ReconnectPolicy()
    var longest = Duration.zero
    for _ in 0..<1_000_000 { longest = max(longest, policy.delay(after: .silent, at: start, random: 0.99)) }
    #expect(longest <= .seconds(60))
  }

  @Test("a good session that is lost is taken up at once, and the back-off begins anew")
  func healthy() {
    var policy = ReconnectPolicy()
    for _ in 1...10 { _ = policy.delay(after: .unreachable(""), at: start, random: 1) }
    policy.online(at: start)
    #expect(!policy.isHealthy(at: start + .seconds(29)))
    #expect(policy.isHealthy(at: start + .seconds(31)))
    #expect(policy.delay(after: .closed, at: start + .seconds(31), random: 1) == .zero)
    #expect(policy.delay(after: .unreachable(""), at: start + .seconds(31), random: 1) == .seconds(1))
  }

  @Test("a server that lets us in and throws us out does not make us spin")
  func flapping() {
    var policy = ReconnectPolicy()
    let waits = (1...20).map { _ in
      policy.online(at: start)
      return policy.delay(after: .closed, at: start, random: 0.5)
    }
    #expect(waits.prefix(6).allSatisfy { $0 == .zero })
    #expect(waits.dropFirst(6).allSatisfy { $0 > .zero })
    #expect(waits.last == .seconds(30))
  }

  @Test("a wrong password is tried after a minute, five, fifteen, then each hour, more or less")
  func permanent() {
    var policy = ReconnectPolicy()
    let middle = (1...6).map { _ in policy.delay(after: password, at: start, random: 0.5) }
    #expect(middle == [60, 300, 900, 3_600, 3_600, 3_600].map { .seconds($0) })
    #expect(policy.delay(after: password, at: start, random: 0) == .seconds(2_700))
    policy.online(at: start)
    #expect(policy.delay(after: password, at: start, random: 0.5) == .seconds(60))
  }

  @Test("a conflict is fought over less and less, even if each session between lasts")
  func conflicts() {
    var policy = ReconnectPolicy()
    let waits = (0..<5).map { hour in
      policy.online(at: start + .seconds(3_600 * hour))
      return policy.delay(after: conflict, at: start + .seconds(3_600 * hour + 1_800), random: 0)
    }
    #expect(waits == [300, 900, 3_600, 3_600, 3_600].map { .seconds($0) })
    policy.online(at: start)
    _ = policy.delay(after: .closed, at: start + .seconds(60), random: 0)
    #expect(policy.delay(after: conflict, at: start + .seconds(60), random: 0) == .seconds(300))
  }
}
