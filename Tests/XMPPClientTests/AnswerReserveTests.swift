import EventLoop
import JID
import Testing
import XMPPStanzas
import XMPPStream
import XMPPTesting

@testable import XMPPClient

@Suite("Answers while too much is on its way")
struct AnswerReserveTests {
  init() { LoopThread.start() }

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

  private func message(_ id: String) throws -> Message {
    Message(.chat, to: try JID("alice@example.org"), id: id, body: "text")
  }

  @Test(
    "messages that the server has not confirmed yet keep no ping from being answered; courtesies wait for better times")
  @LoopActor func reserve() throws {
    let conversation = try Conversation.managed()
    for number in 0...StreamManagement.congestion {
      conversation.session.send(try message("m\(number)").element, token: "m\(number)")
    }
    conversation.skip()
    #expect(conversation.session.isCongested)
    conversation.session.sendCourtesy(try message("receipt").element)
    let ping = "<iq type='get' id='p' from='bob@example.org/x'><ping xmlns='urn:xmpp:ping'/></iq>"
    try conversation.play("server: \(ping)\nbot: <iq type='result' id='p' to='bob@example.org/x'/>")
    for _ in 0..<20 { try conversation.play("server: \(ping)") }
    conversation.skip()
    try conversation.play("server: \(ping)\nthe bot says nothing")
    #expect(
      conversation.session.unconfirmed < StreamManagement.congestion + 20, "one that asks without end has had its share"
    )
    let other = ping.replacing("bob@", with: "carol@")
    try conversation.play("server: \(other)\nbot: <iq type='result' id='p' to='carol@example.org/x'/>")
  }
}
