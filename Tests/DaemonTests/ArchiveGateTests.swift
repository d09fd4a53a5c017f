import EventLoop
import SQLite
import Testing
import XMPPTesting

@testable import Archive
@testable import Daemon

@Suite("The gate to the archive, when the disk fails")
struct ArchiveGateTests {
  init() { LoopThread.start() }

  /// Until the gate reports a fault (true) or that it is over.
  @LoopActor private func fault(_ bench: FlowBench, _ isThere: Bool) async {
    await withCheckedContinuation { continuation in
      if (bench.gate.fault != nil) == isThere { return continuation.resume() }
      bench.gate.onFault = { error in
        guard (error != nil) == isThere else { return }
        bench.gate.onFault = { _ in }
        continuation.resume()
      }
    }
  }

  /// The database may have so many pages at most.
  @LoopActor private func limit(_ bench: FlowBench, pages: Int) async throws {
    try await withCheckedThrowingContinuation { continuation in
      // Outside a group, which a full disk would fail as a whole.
      bench.archive.read { queries throws(DatabaseError) in
        try queries.connection.setPragma("max_page_count", to: pages)
      } completion: {
        continuation.resume(with: $0)
      }
    }
  }

  @Test("a full disk: nothing is answered, reading is paused; with room again all is stored and answered, in order")
  @LoopActor func fullDisk() async throws {
    let bench = try await FlowBench.online()
    // The least that SQLite allows is what the file has now.
    try await limit(bench, pages: 1)
    let padding = String(repeating: "x", count: 9_000)
    for number in 1...20 {
      try bench.play(
        "server: <message from='a@example.net/x' type='chat' id='\(number)'><body>\(number) \(padding)</body></message>"
      )
    }
    await fault(bench, true)
    for number in 21...40 {
      try bench.play(
        "server: <message from='b@example.net/x' type='chat' id='\(number)'><body>ping \(number)</body></message>")
    }
    #expect(bench.conversation.dialer.stream?.isReading == false)
    bench.conversation.clock.advance(by: .seconds(2))
    await fault(bench, true)
    bench.conversation.skip()
    try await limit(bench, pages: 1_000_000)
    bench.conversation.clock.advance(by: .seconds(2))
    await fault(bench, false)
    await bench.settle()
    #expect(bench.conversation.dialer.stream?.isReading == true)
    let received = try await bench.rows().filter { $0.direction == .in }.compactMap(\.messageID)
    #expect(received == (1...40).map(String.init))
    bench.conversation.skip()
    #expect(try await bench.rows().filter { $0.body?.hasPrefix("pong") == true }.count == 20)
  }

  @Test("a fault that is over at once lets nothing overtake what failed")
  @LoopActor func order() async throws {
    let bench = try await FlowBench.online()
    let disk = bench.holdDisk()
    let attempts = Monitor(0)
    // More than one group of the archive's; the one at 5 fails as a whole, the next would succeed.
    for number in 1...600 {
      bench.gate.write { transaction throws(DatabaseError) in
        if number == 5,
          attempts.withLock({
            $0 += 1; return $0
          }) == 1
        {
          throw Self.full
        }
        try transaction.insert(NewMessage(.in, .chat, peer: "a@example.net", time: 1, body: "\(number)"))
      }
    }
    disk.open()
    await fault(bench, true)
    bench.gate.write { transaction throws(DatabaseError) in
      try transaction.insert(NewMessage(.in, .chat, peer: "a@example.net", time: 1, body: "last"))
    }
    // Until the archive has answered all: only then it is asked again.
    await withCheckedContinuation { continuation in
      bench.archive.write { _ throws(DatabaseError) in
      } completion: { _ in
        continuation.resume()
      }
    }
    bench.conversation.clock.advance(by: .seconds(2))
    await bench.settle()
    #expect(try await bench.rows().compactMap(\.body) == (1...600).map(String.init) + ["last"])
    #expect(attempts.withLock { $0 } == 2)
  }

  private static let full = DatabaseError(
    code: .full, message: "database or disk is full", path: "archive.db", operation: "test")

  @Test("a disk that did not keep what was written ends it all, and says so once")
  @LoopActor func fatal() async throws {
    let bench = try await FlowBench.online()
    let told = Box<[ArchiveError]>([])
    bench.gate.onFatal = { told.value.append($0) }
    let error = DatabaseError(code: .ioErrorFsync, message: "I/O error", path: "archive.db", operation: "test")
    bench.gate.write { _ throws(DatabaseError) in throw error }
    let last = Box(false)
    bench.gate.onIdle = { last.value = true }
    bench.gate.write { _ throws(DatabaseError) in
    } done: { _ in
      Issue.record("written after a failed fsync")
    }
    await withCheckedContinuation { continuation in
      bench.archive.write { _ throws(DatabaseError) in
      } completion: { _ in
        continuation.resume()
      }
    }
    #expect(told.value == [.fatal(error)])
    #expect(last.value)
  }

  @Test("a write that can never succeed is dropped alone")
  @LoopActor func dropped() async throws {
    let bench = try await FlowBench.online()
    let dropped = Box(0)
    bench.gate.onDropped = { _ in dropped.value += 1 }
    bench.gate.write { _ throws(DatabaseError) in
      throw DatabaseError(code: .constraint, message: "constraint", path: "archive.db", operation: "test")
    }
    try await bench.receive("ping", id: "m1")
    try bench.expectAnswer("pong")
    #expect(dropped.value == 1)
  }

  @Test("a flood that the disk can't keep up with pauses the reading until it has")
  @LoopActor func pressure() async throws {
    let bench = try await FlowBench.online()
    let disk = bench.holdDisk()
    for number in 1...1_024 {
      try bench.play(
        "server: <message from='a@example.net/x' type='chat' id='\(number)'><subject>x</subject></message>")
    }
    #expect(bench.conversation.dialer.stream?.isReading == false)
    disk.open()
    await bench.settle()
    #expect(bench.conversation.dialer.stream?.isReading == true)
    #expect(try await bench.rows().count == 1_024)
  }
}
