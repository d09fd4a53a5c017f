import Archive
import BotKit
import EventLoop
import Glibc
import JID
import SQLite
import Systemd
import Testing
import XMPPClient
import XMPPTesting

@testable import Daemon

/// A whole daemon between a scripted server, a clock moved by hand, and a folder of its own.
@LoopActor
final class DaemonBench {
  nonisolated let scratch: Scratch
  nonisolated let recording = Recording()
  let dialer = ScriptedDialer()
  let clock = ManualClock()
  let daemon: Daemon
  let conversation: Conversation
  /// How often it was told whom to trust.
  var trusts: Int { trustBox.value }
  /// How the process would have ended.
  var exitCode: ExitCode? { exitBox.value }
  private let exitBox = Box<ExitCode?>(nil)
  private let trustBox = Box(0)

  nonisolated var socket: String { scratch.file("run/control.sock") }

  /// Started, not yet online. `before`: what an earlier process left in the archive. `settings`: what the configuration says besides the account's address and the paths.
  init(
    _ settings: String = "", handlers: [any CommandHandler] = [], isRestarting: Bool = false,
    before: @escaping @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> Void = { _ in }
  ) async throws {
    scratch = try Scratch()
    try Self.configure(scratch, settings)
    let parts = try Daemon.Parts(
      file: scratch.file("bot.conf"), environment: [:], sink: recording, handlers: handlers)
    _ = try await withCheckedThrowingContinuation { continuation in
      parts.archive.write(before) { continuation.resume(with: $0) }
    }
    let memory = try await withCheckedThrowingContinuation { continuation in
      Memory.read(for: parts) { continuation.resume(with: $0) }
    }
    let surroundings = Surroundings(
      dialer: dialer, trust: { [trustBox] _ in trustBox.value += 1 }, scheduler: clock,
      wallClock: { 1_000_000_000_000_000 },
      isRestarting: { isRestarting }, exit: { [exitBox] in exitBox.value = exitBox.value ?? $0 })
    daemon = Daemon(parts, memory, surroundings)
    conversation = Conversation(with: daemon.session, over: dialer, clock: clock)
    // Contacts live there, and no rooms: nobody need be asked.
    daemon.flow.rooms.services.update("example.net", else: false) { $0 = false }
    daemon.begin()
  }

  // The daemon and its processes end on the loop, in the midst of no turn of it, wherever the test ends.
  isolated deinit {}

  static func online(_ settings: String = "", handlers: [any CommandHandler] = []) async throws -> DaemonBench {
    let bench = try await DaemonBench(settings, handlers: handlers)
    try bench.goOnline()
    await bench.settle()
    return bench
  }

  nonisolated static func configure(
    _ scratch: Scratch, _ settings: String, account: String = "", archive: String = "archive.db"
  ) throws {
    try scratch.write("secret\n", to: "password", mode: 0o600)
    try scratch.write(
      """
      [account]
      jid = bot@example.org
      password-file = \(scratch.file("password"))
      resource = r
      \(account)
      [archive]
      path = \(scratch.file(archive))
      [control]
      socket = \(scratch.file("run/control.sock"))
      \(settings)

      """, to: "bot.conf")
  }

  /// Online on a server with stream management (XEP-0198), and about to be restarted when it is stopped.
  static func restarting(handlers: [any CommandHandler] = []) async throws -> DaemonBench {
    let bench = try await DaemonBench(handlers: handlers, isRestarting: true)
    try bench.goOnline(isManaged: true)
    await bench.settle()
    bench.conversation.skip()
    return bench
  }

  /// Plays the server until the bot is online; what the bot says before its server is known is not looked at. `isManaged`:
  /// with stream management (XEP-0198).
  func goOnline(features: [String] = [], isManaged: Bool = false) throws {
    try logIn(isManaged: isManaged)
    try conversation.answerDiscovery(features: features)
    if features.isEmpty { conversation.skip() }
  }

  /// Plays the server until the bot is online, and says nothing more.
  func logIn(isManaged: Bool = false) throws {
    try conversation.play(Greeting.toTLS)
    conversation.skip()
    try conversation.play(
      """
      server: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>
       <mechanism>PLAIN</mechanism></mechanisms></stream:features>
      server: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>
      server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
       xmlns:stream='http://etherx.jabber.org/streams' id='3' from='example.org' version='1.0'>
      server: <stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>
       \(isManaged ? "<sm xmlns='urn:xmpp:sm:3'/>" : "")</stream:features>
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      """)
    if isManaged {
      conversation.skip()
      try conversation.play("server: <enabled xmlns='urn:xmpp:sm:3' id='sm1' resume='true'/>")
    }
  }

  func play(_ script: String) throws { try conversation.play(script) }

  /// All rows, oldest first.
  func rows() async throws -> [MessageRow] {
    try await withCheckedThrowingContinuation { continuation in
      daemon.gate.archive.read(PageRead(ExportCursor(), size: .max)) { result in
        continuation.resume(with: result.map(\.rows))
      }
    }
  }

  /// The rows, as `< body` for what came and `> body (state)` for what went.
  func transcript() async throws -> [String] {
    try await rows().map { row in
      row.direction == .in ? "< \(row.body ?? "")" : "> \(row.body ?? "") (\(row.state.rawValue))"
    }
  }

  /// Until nothing is under way to the archive, or done because of it.
  func settle() async {
    repeat {
      await withCheckedContinuation { continuation in
        daemon.gate.write { _ throws(DatabaseError) in
        } done: {
          continuation.resume()
        }
      }
    } while !daemon.gate.isIdle
  }

  /// Lets the loop turn until `condition` holds; false when it does not come to that.
  func turn(until condition: @LoopActor () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(20))
    while !condition(), .now < deadline {
      await withCheckedContinuation { next in EventLoop.main.post { next.resume() } }
    }
    return condition()
  }

  /// How the daemon ended the process; nil when it does not.
  func awaitExit() async -> ExitCode? {
    _ = await turn { exitCode != nil }
    return exitCode
  }

  /// The daemon says that it goes.
  func awaitGoodbye() async throws {
    #expect(await turn { daemon.ending?.saidGoodbye == true })
    try play(
      """
      bot: <presence type='unavailable'/>
      bot: </stream:stream>
      """)
  }

  /// Reads the configuration again, with `settings` in place of what it said before; its faults.
  func reload(_ settings: String, account: String = "") throws -> [String] {
    try Self.configure(scratch, settings, account: account)
    return reload()
  }

  func reload() -> [String] {
    let faults = Box<[String]>([])
    daemon.reload { faults.value = $0.faults }
    return faults.value
  }

  /// Keeps the database's thread busy until the barrier opens.
  func holdDisk() -> Barrier {
    let barrier = Barrier()
    daemon.gate.archive.write { _ throws(DatabaseError) in
      barrier.wait()
    } completion: { _ in
    }
    return barrier
  }
}

extension DaemonBench {
  /// Whether the bot says something that contains `text`; it is not taken from what a script sees.
  func hears(_ text: String) async -> Bool {
    await turn {
      guard let written = dialer.stream?.written else { return false }
      return String(decoding: written, as: UTF8.self).contains(text)
    }
  }

  /// From now on the archive's disk is full, as far as the gate can tell.
  func breakArchive() async {
    daemon.gate.write { _ throws(DatabaseError) in
      throw DatabaseError(code: .full, message: "database or disk is full", path: "archive.db", operation: "test")
    }
    _ = await turn { daemon.gate.fault != nil }
  }
}
