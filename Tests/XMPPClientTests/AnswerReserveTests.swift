import JID
import Testing

@testable import XMPPClient

@Suite("Answers while too much is on its way")
struct AnswerReserveTests {
  @Test("each address has its share of the reserve, until there is room again")
  func shares() throws {
    var reserve = AnswerReserve()
    let mallory = try JID("mallory@example.org/1")
    let alice = try JID("alice@example.org/phone")
    var hasRoom = 0
    for _ in 0..<1_000 where reserve.admits(mallory, isCrowded: false, isExhausted: false) { hasRoom += 1 }
    #expect(hasRoom == 1_000)
    var isCrowded = 0
    for number in 0..<100 {
      let resource = try JID("mallory@example.org/\(number)")
      if reserve.admits(resource, isCrowded: true, isExhausted: false) { isCrowded += 1 }
    }
    #expect(isCrowded == AnswerReserve.share, "whatever its resource")
    let others = reserve.admits(alice, isCrowded: true, isExhausted: false)
    #expect(others)
    let exhausted = reserve.admits(alice, isCrowded: true, isExhausted: true)
    #expect(!exhausted, "memory is bounded")
    let afterwards = reserve.admits(alice, isCrowded: false, isExhausted: false)
    #expect(afterwards)
    let nextCrowd = reserve.admits(mallory, isCrowded: true, isExhausted: false)
    #expect(nextCrowd, "a new crowd, a new share")
  }
}
