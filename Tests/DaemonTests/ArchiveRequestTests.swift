import Archive
import EventLoop
import Glibc
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

@Suite("What xmppbotctl asks of the archive")
struct ArchiveRequestTests {
  init() { LoopThread.start() }

  /// Messages that are looked for without end, until the test is over.
  private struct Endless: MessageCursor {
    struct Progress {
      var slices = 0
      var isOver = false
    }
    let progress: Monitor<Progress>

    var needsIndex: Bool { false }

    func nextSlice(_ queries: borrowing ArchiveQueries) -> [MessageRow]? {
      progress.withLock { progress in
        progress.slices += 1
        return progress.isOver ? nil : []
      }
    }
  }

  @Test("it is not gone on with when who asked has gone")
  @LoopActor func gone() async throws {
    let bench = try await DaemonBench()
    let progress = Monitor(Endless.Progress())
    defer { progress.withLock { $0.isOver = true } }
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, streamType, 0, &ends) == 0)
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let client = ControlClient(
      descriptor: ends[0],
      handler: { [daemon = bench.daemon] _, client in daemon.page(Endless(progress: progress), client) },
      ended: { _ in })
    #expect(write(ends[1], "{}\n", 3) == 3)
    #expect(await bench.turn { progress.withLock { $0.slices } > 2 })
    close(ends[1])
    #expect(await bench.turn { !client.isOpen })
    // Whatever is asked after that is answered in a turn that knows of it.
    await bench.settle()
    let slices = progress.withLock { $0.slices }
    await bench.settle()
    await bench.settle()
    #expect(progress.withLock { $0.slices } == slices)
  }
}
