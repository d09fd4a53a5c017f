import Testing

@testable import Archive

@Suite("When the log is moved into the database")
struct CheckpointPolicyTests {
  private var policy = CheckpointPolicy(bound: 10_000)
  private let second: UInt64 = 1_000_000_000

  @Test("not before it has grown by a step, and then again when it has been begun anew")
  mutating func steps() {
    #expect(policy.action(pages: 1_999, now: 0) == .none)
    #expect(policy.action(pages: 2_000, now: 0) == .passive)
    #expect(policy.done(.passive, isComplete: true, now: 0) == nil)
    #expect(policy.action(pages: 2_000, now: 0) == .none)
    #expect(policy.action(pages: 3, now: 0) == .none)
    #expect(policy.action(pages: 2_010, now: 0) == .passive)
    #expect(policy.deadline == nil)
  }

  @Test(
    "a reader that holds it is told of once, when the log has outgrown its bound; then cutting is tried every ten seconds"
  )
  mutating func held() {
    for pages in [2_000, 4_000, 6_000, 8_000] {
      #expect(policy.action(pages: pages, now: UInt64(pages) * second) == .passive)
      #expect(policy.done(.passive, isComplete: false, now: UInt64(pages) * second) == nil)
    }
    #expect(policy.action(pages: 10_500, now: 10_000 * second) == .truncate)
    #expect(policy.done(.truncate, isComplete: false, now: 10_000 * second) == .held(8_000 * second))
    #expect(policy.deadline == 10_010 * second)
    #expect(policy.action(pages: 14_000, now: 10_009 * second) == .none)
    #expect(policy.action(pages: 14_000, now: 10_010 * second) == .truncate)
    #expect(policy.done(.truncate, isComplete: false, now: 10_010 * second) == nil)
    #expect(policy.action(pages: 14_000, now: 10_020 * second) == .truncate)
    #expect(policy.done(.truncate, isComplete: true, now: 10_020 * second) == .freed(8_020 * second))
    #expect(policy.deadline == nil)
    #expect(policy.action(pages: 0, now: 10_021 * second) == .none)
  }

  @Test("a log that is cut as soon as it reaches its bound is nothing to tell")
  mutating func burst() {
    #expect(policy.action(pages: 12_000, now: 0) == .truncate)
    #expect(policy.done(.truncate, isComplete: true, now: 0) == nil)
  }
}
