import Archive
import EventLoop
import Glibc
import JSON
import SQLite
import Systemd
import Testing
import XMPPTesting

@testable import Daemon

@Suite("The archive's care while the daemon runs")
struct CareTests {
  init() { LoopThread.start() }

  private func ask(_ bench: DaemonBench, _ request: JSON) throws -> ControlMessage {
    try ControlCaller(bench.socket).ask(request).end
  }

  /// Messages 1…count, one a day, the last of them now.
  @LoopActor private func fill(_ bench: DaemonBench, _ count: Int) async {
    bench.daemon.gate.write { transaction throws(DatabaseError) in
      for number in 1...count {
        let time = 1_000_000_000_000_000 - Int64(count - number) * 86_400_000_000
        try transaction.insert(NewMessage(.in, .chat, peer: "alice@example.net", time: time, body: "number \(number)"))
      }
    }
    await bench.settle()
  }

  private func bodies(_ bench: DaemonBench) throws -> [String] {
    try ControlCaller(bench.socket).ask(["verb": "archive-export"]).rows.compactMap { $0["body"]?.stringValue }
  }

  @Test("a check tells that all is well")
  func check() async throws {
    let bench = try await DaemonBench()
    await fill(bench, 10)
    let result = try #require(try ask(bench, ["verb": "archive-check"]).result)
    #expect(result["sound"] == true && result["messages"] == 10 && result["damage"] == [])
  }

  @Test("old messages are deleted at the operator's word, and it is logged who said so")
  func prune() async throws {
    let bench = try await DaemonBench()
    await fill(bench, 300)
    let before = 1_000_000_000_000_000 - 9 * 86_400_000_000
    let result = try #require(try ask(bench, ["verb": "archive-prune", "before": .int(before)]).result)
    #expect(result["deleted"] == 290 && result["kept"] == 0)
    #expect(try bodies(bench).count == 10)
    #expect(bench.recording.messages(.archivePruned).first?.hasPrefix("user ") == true)
  }

  @Test("a moment in the future, or none, deletes nothing")
  func refusals() async throws {
    let bench = try await DaemonBench()
    await fill(bench, 5)
    #expect(try ask(bench, ["verb": "archive-prune", "before": .int(1_000_000_000_000_001)]).failure?.code == .usage)
    #expect(try ask(bench, ["verb": "archive-prune"]).failure?.code == .usage)
    #expect(try bodies(bench).count == 5)
  }

  @Test("keep = 90d deletes what is older, a minute after the start and then every day")
  @LoopActor func retention() async throws {
    let bench = try await DaemonBench("[archive]\nkeep = 90d\n")
    await fill(bench, 100)
    bench.clock.advance(by: .seconds(59))
    #expect(try bodies(bench).count == 100)
    bench.clock.advance(by: .seconds(1))
    #expect(await bench.turn { bench.recording.messages(.archivePruned).count == 1 })
    #expect(bench.recording.messages(.archivePruned).first?.hasPrefix("9 messages") == true)
    #expect(try bodies(bench).first == "number 10")
    await fill(bench, 100)
    bench.clock.advance(by: .seconds(86_400))
    #expect(await bench.turn { bench.recording.messages(.archivePruned).count == 2 })
  }

  @Test("a reload that changes keep has it in force at once; forever keeps all")
  @LoopActor func reload() async throws {
    let bench = try await DaemonBench()
    await fill(bench, 100)
    bench.clock.advance(by: .seconds(2 * 86_400))
    #expect(try bodies(bench).count == 100)
    #expect(try bench.reload("[archive]\nkeep = 10d\n").isEmpty)
    #expect(await bench.turn { !bench.recording.messages(.archivePruned).isEmpty })
    #expect(try bodies(bench).count == 11)
    #expect(try bench.reload("[archive]\nkeep = sometimes\n").first?.contains("keep") == true)
  }

  @Test("a damaged archive is set aside, loudly, and seen in the status until the next restart")
  func setAside() async throws {
    let scratch = try Scratch()
    try scratch.write(String(repeating: "\0", count: 8_192), to: "archive.db")
    try DaemonBench.configure(scratch, "")
    let recording = Recording()
    let parts = try Daemon.Parts(file: scratch.file("bot.conf"), environment: [:], sink: recording, handlers: [])
    defer {
      parts.archive.close()
      parts.control.close()
      for name in parts.archive.setAside?.files ?? [] { unlink(name) }
    }
    let name = try #require(parts.archive.setAside?.files.first)
    #expect(name.hasPrefix(scratch.file("archive.db.damaged-")))
    #expect(recording.messages(.archiveSetAside).first?.contains(name) == true)
  }
}
