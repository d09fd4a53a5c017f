import EventLoop
import Testing
import XMPPTesting

@testable import Daemon

@Suite("What a contact chooses does not make an answer too long")
struct AnswerLengthTests {
  init() { LoopThread.start() }

  private static let long = String(repeating: "&apos;", count: 10_000)

  @Test("a thread is kept while it is short")
  @LoopActor func thread() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping", id: "m1", more: "<thread>\(String(repeating: "t", count: 200))</thread>")
    #expect(bench.written().contains("<thread>ttt"))
    bench.conversation.skip()
    try await bench.receive("ping", id: "m2", more: "<thread>\(Self.long)</thread>")
    try bench.expectAnswer("pong")
    #expect(try await bench.rows()[2].thread?.count == 10_000, "the archive has it all the same")
  }

  @Test("nor is an id taken over that is too long, neither into an answer nor into a receipt")
  @LoopActor func id() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try bench.befriend("alice@example.net")
    let asks = "<request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>"
    try await bench.receive("slow", id: Self.long, more: asks)
    try await bench.receive("ping", id: "m2")
    await slow.gate.open()
    for _ in 0..<100_000 where bench.dispatcher.running > 0 { await bench.turnOnce() }
    await bench.settle()
    #expect(bench.sentBodies() == ["pong", "at last"])
    #expect(bench.written().utf8.count < 2_000)
    #expect(try await bench.rows().allSatisfy { $0.replyTo == nil })
  }
}
