import Archive
import BotKit
import EventLoop
import JID
import Testing
import XMPPTesting

@testable import Daemon

@Suite("What the bot says: archived, then sent, or queued until it can be")
struct OutboxTests {
  init() { LoopThread.start() }

  /// The bench's time.
  private static let stamp = "2001-09-09T01:46:40.000000Z"

  private func alice() throws -> JID { try JID("alice@example.net") }

  @Test("a long text goes as several messages, each small enough for any server, cut at line breaks")
  @LoopActor func pieces() async throws {
    let bench = try await FlowBench.online()
    let line = String(repeating: "ä", count: 1_000)
    let text = Array(repeating: line, count: 20).joined(separator: "\n")
    bench.flow.outbox.send(text, to: try alice())
    await bench.settle()
    let bodies = try await bench.rows().compactMap(\.body)
    #expect(bodies.count > 1)
    #expect(bodies.allSatisfy { $0.utf8.count <= 8_000 })
    #expect(bodies.joined(separator: "\n") == text)
    for body in bodies { try bench.expectAnswer(body, to: "alice@example.net") }
    try bench.expectSilence()
  }

  @Test("a built-in answer that is too long is cut as well")
  @LoopActor func longBuiltin() async throws {
    let bench = try await FlowBench.online()
    try await bench.receive("ping " + String(repeating: "x ", count: 6_000), id: "m1")
    let sent = try await bench.rows().dropFirst()
    #expect(sent.count == 2 && sent.allSatisfy { $0.state == .sent && ($0.body?.utf8.count ?? 0) <= 8_000 })
  }

  @Test("what is said while the bot is offline is queued, and sent in order when it is online again")
  @LoopActor func queue() async throws {
    let bench = try await FlowBench()
    for number in 1...3 { bench.flow.outbox.send("\(number)", to: try alice()) }
    await bench.settle()
    #expect(try await bench.transcript() == ["> 1 (queued)", "> 2 (queued)", "> 3 (queued)"])
    #expect(bench.flow.outbox.queued == 3)
    try await bench.goOnline(settles: false)
    // Behind what waits, though the bot is online by now.
    bench.flow.outbox.send("4", to: try alice())
    await bench.settle()
    for number in 1...4 { try bench.expectAnswer("\(number)", to: "alice@example.net", delayed: Self.stamp) }
    try bench.expectSilence()
    #expect(try await bench.transcript() == ["> 1 (sent)", "> 2 (sent)", "> 3 (sent)", "> 4 (sent)"])
    #expect(bench.flow.outbox.queued == 0)
  }

  @Test("what is answered while the last of the queue is on its way does not overtake what was accepted before it")
  @LoopActor func noOvertaking() async throws {
    let bench = try await FlowBench()
    bench.flow.outbox.send("1", to: try alice())
    await bench.settle()
    let disk = bench.holdDisk()
    try await bench.goOnline(settles: false)
    // Accepted while the queue is gated; the queue is read before it is in it.
    bench.flow.outbox.send("2", to: try alice())
    disk.open()
    for number in 3...40 {
      await bench.turnOnce()
      bench.flow.outbox.send("\(number)", to: try alice())
    }
    await bench.settle()
    #expect(bench.sentBodies() == (1...40).map(String.init))
  }

  @Test("a message committed while the bot comes online is sent once")
  @LoopActor func comesOnlineMeanwhile() async throws {
    let bench = try await FlowBench()
    let disk = bench.holdDisk()
    bench.flow.outbox.send("hello", to: try alice())
    try await bench.goOnline(settles: false)
    disk.open()
    await bench.settle()
    try bench.expectAnswer("hello", to: "alice@example.net", delayed: Self.stamp)
    try bench.expectSilence()
  }

  @Test("a queue that is longer than one batch goes out whole, and waits while the server takes nothing")
  @LoopActor func longQueue() async throws {
    let rows = (1...250).map {
      NewMessage(.out, .chat, peer: "alice@example.net", time: 1, body: "\($0)", state: .queued, id: "q\($0)")
    }
    let bench = try await FlowBench(queued: rows)
    bench.flow.online(.new)
    try bench.conversation.play(Greeting.online)
    bench.conversation.dialer.stream?.unsentBytes = 1_000_000
    bench.flow.discovered()
    await bench.settle()
    #expect(bench.flow.outbox.queued == 150)
    bench.conversation.dialer.stream?.unsentBytes = 0
    bench.flow.outbox.resume()
    await bench.settle()
    for number in 1...250 {
      try bench.expectAnswer("\(number)", to: "alice@example.net", delayed: "1970-01-01T00:00:00.000001Z")
    }
    try bench.expectSilence()
    #expect(bench.flow.outbox.queued == 0)
  }

  @Test("a message whose stream ends between commit and sending is queued and sent by the next stream")
  @LoopActor func requeue() async throws {
    let bench = try await FlowBench.online()
    let disk = bench.holdDisk()
    bench.flow.outbox.send("hello", to: try alice())
    try bench.play("the connection is lost")
    disk.open()
    await bench.settle()
    #expect(try await bench.transcript() == ["> hello (queued)"])
    bench.conversation.clock.advance(by: .seconds(60))
    try await bench.goOnline()
    await bench.settle()
    try bench.expectAnswer("hello", to: "alice@example.net", delayed: Self.stamp)
    #expect(try await bench.transcript() == ["> hello (sent)"])
  }

  @Test("what is set aside is on its way no more")
  @LoopActor func setAside() async throws {
    let bench = try await FlowBench.online()
    bench.flow.outbox.send("hello", to: try alice())
    await bench.settle()
    #expect(bench.flow.outbox.waiting == 1)
    let id = try #require(try await bench.rows().first?.messageID)
    bench.flow.outbox.setAside(id)
    #expect(bench.flow.outbox.waiting == 0)
  }
}

extension NewMessage {
  fileprivate init(
    _ direction: Direction, _ kind: Kind, peer: String, time: Int64, body: String, state: State, id: String
  ) {
    self.init(direction, kind, peer: peer, time: time, body: body, state: state)
    messageID = id
    originID = id
  }
}
