import Archive
import BotKit
import EventLoop
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

/// What an earlier process did not finish.
@Suite("The ledger of commands")
struct LedgerTests {
  init() { LoopThread.start() }

  private static func leftOpen(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) {
    try transaction.setMeta(.account, to: "bot@example.org")
    var asked = NewMessage(.in, .chat, peer: "alice@example.net", time: 999_999_999_000_000, body: "dice 6")
    asked.resource = "x"
    asked.messageID = "m1"
    guard case .inserted(let id) = try transaction.insert(asked) else { return }
    try transaction.openCommand("dice", message: id, at: asked.time)
  }

  private struct Dice: CommandHandler {
    let description: CommandDescription
    init(reruns: Bool) {
      description = CommandDescription(name: "dice", allow: [.everyone], reruns: reruns)
    }
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
      "threw " + request.arguments.joined()
    }
  }

  @Test("a command that the end of the process cut short is not run again: its sender is told, once")
  @LoopActor func interrupted() async throws {
    let bench = try await DaemonBench(handlers: [Dice(reruns: false)], before: Self.leftOpen)
    await bench.settle()
    let told =
      "> dice: interrupted, I was restarted while it ran. It may have been done in part; send it again if you still want it. (queued)"
    #expect(try await bench.transcript() == ["< dice 6", told])
    let open = try await withCheckedThrowingContinuation { continuation in
      bench.daemon.gate.archive.read({ queries throws(DatabaseError) in try queries.openCommands().count }) {
        continuation.resume(with: $0)
      }
    }
    #expect(open == 0)
  }

  @Test("one that may run again does")
  @LoopActor func rerun() async throws {
    let bench = try await DaemonBench(handlers: [Dice(reruns: true)], before: Self.leftOpen)
    #expect(await bench.turn { bench.recording.messages(.commandRun).count == 2 })
    await bench.settle()
    #expect(try await bench.transcript() == ["< dice 6", "> threw 6 (queued)"])
  }

  @Test("a message that comes again after a restart is not run again")
  @LoopActor func repeated() async throws {
    let bench = try await DaemonBench(handlers: [Dice(reruns: true)], before: Self.leftOpen)
    try bench.goOnline()
    await bench.settle()
    try bench.play(
      "server: <message type='chat' from='alice@example.net/x' id='m1'><body>dice 6</body></message>")
    await bench.settle()
    #expect(try await bench.transcript().filter { $0.hasPrefix(">") }.count == 1)
  }
}
