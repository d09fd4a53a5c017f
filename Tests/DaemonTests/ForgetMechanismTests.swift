import Archive
import EventLoop
import JSON
import SQLite
import Systemd
import Testing
import XMPPTesting

@testable import Daemon

@Suite("A server that has become weaker", .serialized)
struct ForgetMechanismTests {
  init() { LoopThread.start() }

  /// The server's list of mechanisms is PLAIN alone.
  @LoopActor private func offerPlain(_ bench: DaemonBench) throws {
    try bench.play(Greeting.toTLS)
    bench.conversation.skip()
    try bench.play(
      """
      server: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>
       <mechanism>PLAIN</mechanism></mechanisms></stream:features>
      """)
    bench.conversation.skip()
  }

  @Test("a weaker login is refused until an operator has the earlier one forgotten; then it is tried at once")
  func forgotten() async throws {
    let bench = try await DaemonBench { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      try transaction.setMeta(.saslFloor, to: "SCRAM-SHA-256")
    }
    try await offerPlain(bench)
    let refusal = try #require(bench.recording.messages(.loginFailed).last)
    #expect(refusal.contains("less than SCRAM-SHA-256") && refusal.contains("xmppbotctl forget-mechanism"))

    let caller = try ControlCaller(bench.socket)
    #expect(try caller.ask(["verb": "forget-mechanism"]).end.result == ["mechanism": "SCRAM-SHA-256"])
    #expect(bench.recording.messages(.mechanismForgotten).last?.contains("SCRAM-SHA-256") == true)
    // No time passes: the bot connects.
    try await bench.goOnline()
    await bench.settle()
    // What it used now is remembered.
    let again = try ControlCaller(bench.socket).ask(["verb": "forget-mechanism"]).end
    #expect(again.result == ["mechanism": "PLAIN"])
    let empty = try ControlCaller(bench.socket).ask(["verb": "forget-mechanism"]).end
    #expect(empty.result == ["mechanism": nil])
    #expect(bench.recording.messages(.mechanismForgotten).count == 2)
  }
}
