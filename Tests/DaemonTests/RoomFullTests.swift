import Archive
import EventLoop
import JID
import JSON
import SQLite
import TestSupport
import Testing
import XMPPTesting

@testable import Daemon

@Suite("A room for which too much waits", .serialized)
struct RoomFullTests {
  init() { LoopThread.start() }

  private static let ops = "ops@conference.example.org"
  private static let token = "0123456789abcdef0123456789abcdef"

  /// Online, outside of the room, for which `count` messages wait since an earlier process.
  @LoopActor private static func bench(waiting count: Int) async throws -> DaemonBench {
    let bench = try await DaemonBench { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      for number in 0..<count {
        var row = NewMessage(.out, .groupchat, peer: Self.ops, time: 999_999_000_000_000, body: "x")
        (row.room, row.nick, row.state) = (Self.ops, "bot", .queued)
        (row.messageID, row.originID) = ("old\(number)", "old\(number)")
        try transaction.insert(row)
      }
    }
    try bench.goOnline()
    await bench.settle()
    try bench.scratch.write(Self.token + "\n", to: "token", mode: 0o600)
    #expect(
      try bench.reload(
        """
        [room \(Self.ops)]
        nick = bot
        [http]
        listen = unix:\(bench.scratch.file("http.sock"))
        [webhook alerts]
        token-file = \(bench.scratch.file("token"))
        to = \(Self.ops)
        """) == [])
    await bench.settle()
    return bench
  }

  private func call(_ bench: DaemonBench) throws -> HTTPCaller.Answer {
    try #require(
      try HTTPCaller.ask(
        bench.scratch.file("http.sock"), "POST", "/hook/alerts", ["Authorization: Bearer " + Self.token], body: "x"))
  }

  @Test("takes the last message that may wait, and refuses the next, from xmppbotctl and from a webhook")
  func refused() async throws {
    let bench = try await Self.bench(waiting: Outbox.mostHeld - 2)
    let request: JSON = ["verb": "send", "to": .string(Self.ops), "text": "x", "wait": false]
    #expect(try ControlCaller(bench.socket).ask(request).end.result?["state"] == "queued")
    #expect(try call(bench).status == 202)
    let failure = try ControlCaller(bench.socket).ask(request).end.failure
    #expect(failure?.code == .failed)
    #expect(failure?.reason.contains("nothing was sent: \(Outbox.tooMuch) (500 messages)") == true)
    let answer = try call(bench)
    #expect(answer.status == 503 && answer.body.contains(Outbox.tooMuch) && answer.body.contains("xmppbotctl rooms"))
    // What was refused is in no archive.
    #expect(try await bench.rows().map(\.state) == Array(repeating: .queued, count: Outbox.mostHeld))
    await { @LoopActor in bench.daemon.web.close() }()
  }
}
