import Archive
import BotKit
import EventLoop
import SQLite
import Systemd
import Testing
import XMPPTesting

@testable import Daemon

@Suite("The end of the daemon")
struct StoppingTests {
  init() { LoopThread.start() }

  @Test("told to stop, it says unavailable, closes the stream and the archive, and ends with 0")
  @LoopActor func idle() async throws {
    let bench = try await DaemonBench.online()
    bench.daemon.stop()
    try await bench.awaitGoodbye()
    bench.clock.advance(by: .seconds(3))
    #expect(await bench.awaitExit() == .done)
    #expect(bench.recording.messages(.stopping) == ["stopping"])
    // The archive is whole in its one file, and free.
    let again = try Archive.open(path: bench.scratch.file("archive.db")) { $0() }
    again.close()
  }

  @Test("a command that runs is finished and answered first; one that comes meanwhile is not begun")
  @LoopActor func running() async throws {
    let slow = Slow()
    let bench = try await DaemonBench.online(handlers: [slow])
    try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>slow</body></message>")
    await bench.settle()
    bench.conversation.skip()
    bench.conversation.hidesConfirmations = true
    bench.daemon.stop()
    await bench.settle()
    try bench.play("the bot says nothing")
    await slow.gate.open()
    #expect(await bench.turn { bench.daemon.ending?.saidGoodbye == true })
    try bench.play(
      """
      bot: <message type='chat' to='a@example.net/x' id='$a'><body>at last</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$a'/><request xmlns='urn:xmpp:receipts'/>
       <markable xmlns='urn:xmpp:chat-markers:0'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
    try await bench.awaitGoodbye()
    bench.clock.advance(by: .seconds(3))
    #expect(await bench.awaitExit() == .done)
  }

  @Test("a file under way is waited for as long as a command is; then its text is what the contact gets")
  @LoopActor func upload() async throws {
    let bench = try await DaemonBench.online()
    let puppet = Puppet()
    _ = bench.daemon.flow.router.commands.add(puppet.command)
    try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>draw</body></message>")
    await bench.settle()
    puppet.events?.perform(.upload(CommandUpload(.bytes(Array("drawing".utf8)))))
    puppet.events?.finish(.done)
    bench.conversation.skip()
    bench.conversation.hidesConfirmations = true
    bench.daemon.stop()
    await bench.settle()
    try bench.play("the bot says nothing")
    bench.clock.advance(by: .seconds(4))
    #expect(await bench.turn { bench.daemon.ending?.saidGoodbye == true })
    let reason = "(there should be a file, but the bot is restarting; send the command again in a moment)"
    #expect(try await bench.transcript() == ["< draw", "> drawing\n\(reason) (sent)"])
  }

  @Test("a server that takes nothing is waited for, but not for ever")
  @LoopActor func frozenServer() async throws {
    let bench = try await DaemonBench.online()
    bench.dialer.stream?.unsentBytes = 5_000
    bench.daemon.stop()
    await bench.settle()
    try bench.play("the bot says nothing")
    bench.clock.advance(by: .seconds(7))
    try await bench.awaitGoodbye()
    bench.clock.advance(by: .milliseconds(2_400))
    #expect(await bench.awaitExit() == .done)
  }

  @Test("a server that takes the last answers late gets them before the goodbye")
  @LoopActor func slowServer() async throws {
    let bench = try await DaemonBench.online()
    bench.dialer.stream?.unsentBytes = 5_000
    bench.daemon.stop()
    await bench.settle()
    bench.dialer.stream?.unsentBytes = 0
    bench.dialer.stream?.onDrained()
    try await bench.awaitGoodbye()
  }

  @Test("a disk that hangs does not hold up the end, which says that something was not stored")
  @LoopActor func hangingDisk() async throws {
    let bench = try await DaemonBench.online()
    let disk = bench.holdDisk()
    try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>hello</body></message>")
    bench.daemon.stop()
    bench.clock.advance(by: .milliseconds(9_500))
    #expect(bench.exitCode == .failed)
    #expect(bench.recording.messages(.archiveError) == ["messages and changes that could not be archived: 1"])
    disk.open()
  }

  @Test("told twice, it says goodbye at once, and does not wait for its commands")
  @LoopActor func twice() async throws {
    let slow = Slow()
    let bench = try await DaemonBench.online(handlers: [slow])
    try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>slow</body></message>")
    await bench.settle()
    bench.conversation.skip()
    bench.daemon.stop()
    bench.daemon.stop()
    try await bench.awaitGoodbye()
    bench.clock.advance(by: .seconds(1))
    #expect(await bench.awaitExit() == .done)
    await slow.gate.open()
  }

  @Test("stopped while it is offline, it ends at once")
  @LoopActor func offline() async throws {
    let bench = try await DaemonBench()
    try bench.play("the bot cannot connect: no route")
    bench.daemon.stop()
    #expect(await bench.awaitExit() == .done)
  }

  @Test("an archive that lost what it was given ends the process with 1, also while it is stopping")
  @LoopActor func fatal() async throws {
    for stopsFirst in [false, true] {
      let slow = Slow()
      let bench = try await DaemonBench.online(handlers: [slow])
      try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>slow</body></message>")
      await bench.settle()
      if stopsFirst { bench.daemon.stop() }
      bench.daemon.gate.write { _ throws(DatabaseError) in
        throw DatabaseError(code: .ioErrorFsync, message: "I/O error", path: "archive.db", operation: "test")
      }
      #expect(await bench.awaitExit() == .failed)
      await slow.gate.open()
    }
  }

  @Test("an archive that fails while nothing is written ends the process at the watchdog's next question")
  @LoopActor func fatalAtRest() async throws {
    let bench = try await DaemonBench.online()
    bench.daemon.gate.archive.write { _ throws(DatabaseError) in
      throw DatabaseError(code: .ioErrorFsync, message: "I/O error", path: "archive.db", operation: "test")
    } completion: { _ in
    }
    bench.daemon.feedWatchdog(every: .seconds(3_600))
    #expect(await bench.awaitExit() == .failed)
  }

  // MARK: - To be started again

  private static let sm = "urn:xmpp:sm:3"

  /// What the archive says of the session that the next process may take up.
  private func leftStream(_ bench: DaemonBench) throws -> String? {
    let database = try Connection(path: bench.scratch.file("archive.db"), access: .readOnly)
    let row = try database.statement("SELECT id FROM stream")
    return try row.step() ? row.text(at: 0) : nil
  }

  @Test("stopped for a restart, it says no goodbye: the stream is left, and its session stands in the archive")
  @LoopActor func restart() async throws {
    let bench = try await DaemonBench.restarting()
    bench.daemon.stop()
    try bench.play("server: <a xmlns='\(Self.sm)' h='4'/>")
    #expect(await bench.awaitExit() == .done)
    #expect(
      bench.recording.messages(.stopping) == ["stopping for a restart; the stream is left to the next process"])
    try bench.play(
      """
      bot: <a xmlns='\(Self.sm)' h='$h'/>
      the bot says nothing
      """)
    #expect(try leftStream(bench) == "sm1")
  }

  @Test("stopped for good, it leaves no session behind")
  @LoopActor func forgetsStream() async throws {
    let bench = try await DaemonBench()
    try bench.goOnline(isManaged: true)
    await bench.settle()
    bench.conversation.skip()
    bench.daemon.stop()
    #expect(await bench.turn { bench.daemon.ending?.saidGoodbye == true })
    try bench.play(
      """
      bot: <presence type='unavailable'/>
      bot: <a xmlns='\(Self.sm)' h='$h'/>
      bot: <r xmlns='\(Self.sm)'/>
      bot: </stream:stream>
      """)
    bench.clock.advance(by: .seconds(3))
    #expect(await bench.awaitExit() == .done)
    #expect(try leftStream(bench) == nil)
  }

  @Test("before a restart, the server has a second to confirm what was sent; then the stream is left all the same")
  @LoopActor func unconfirmed() async throws {
    let bench = try await DaemonBench.restarting()
    try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>ping</body></message>")
    await bench.settle()
    bench.conversation.skip()
    bench.daemon.stop()
    await bench.settle()
    #expect(bench.daemon.ending?.saidGoodbye == false)
    bench.clock.advance(by: .milliseconds(999))
    #expect(bench.daemon.ending?.saidGoodbye == false)
    bench.clock.advance(by: .milliseconds(1))
    #expect(await bench.awaitExit() == .done)
    #expect(try leftStream(bench) == "sm1")
  }

  @Test("before a restart, a command that runs is answered, and the answer is confirmed")
  @LoopActor func answersBeforeRestart() async throws {
    let slow = Slow()
    let bench = try await DaemonBench.restarting(handlers: [slow])
    try bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>slow</body></message>")
    await bench.settle()
    bench.conversation.skip()
    bench.daemon.stop()
    await slow.gate.open()
    #expect(await bench.hears("<body>at last</body>"))
    bench.conversation.skip()
    #expect(bench.exitCode == nil)
    // Four at first, the typing notice, the answer.
    try bench.play("server: <a xmlns='\(Self.sm)' h='6'/>")
    #expect(await bench.awaitExit() == .done)
  }

  @Test("stopped for a restart while it is offline, it ends at once")
  @LoopActor func restartOffline() async throws {
    let bench = try await DaemonBench(isRestarting: true)
    try bench.play("the bot cannot connect: no route")
    bench.daemon.stop()
    #expect(await bench.awaitExit() == .done)
  }
}
