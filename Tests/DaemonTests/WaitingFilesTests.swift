import BotKit
import EventLoop
import Glibc
import Testing
import XMPPTesting

@testable import Daemon

/// A launcher that opens files when the test says so, and starts nothing.
@LoopActor
private final class LateFiles: ProgramLauncher {
  typealias Done = @LoopActor (Result<Int32, LaunchFailure>) -> Void

  nonisolated let user: uid_t? = nil
  private var waiting: [Done] = []

  func start(
    _ launch: ProgramLaunch, onExit: @escaping @LoopActor () -> Void
  ) throws(LaunchFailure) -> any LaunchedProgram {
    throw LaunchFailure(log: "nothing is started here")
  }

  func open(_ path: String, of folder: String, done: @escaping Done) { waiting.append(done) }

  /// The oldest one that is waited for.
  func answer(_ result: Result<Int32, LaunchFailure>) { waiting.removeFirst()(result) }
}

@Suite("Files that take long to open")
struct WaitingFilesTests {
  init() { LoopThread.start() }

  @Test("the end of the bot does not wait for a file that is being opened; one that comes late is closed")
  @LoopActor func stop() async throws {
    let bench = try await FlowBench()
    let files = LateFiles()
    let uploads = bench.flow.uploads
    uploads.launcher = files
    var results: [Result<String, UploadFailure>] = []
    var idle = 0
    uploads.onIdle = { idle += 1 }
    uploads.start(CommandUpload(.file(path: "a.png")), of: "draw") { results.append($0) }
    #expect(!uploads.isIdle && results.isEmpty)
    uploads.stop()
    #expect(uploads.isIdle && idle == 1)
    #expect(results == [.failure(.interrupted)])
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    files.answer(.success(ends[1]))
    // The end of the pipe: nobody holds its other side.
    var byte: UInt8 = 0
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    #expect(read(ends[0], &byte, 1) == 0)
    close(ends[0])
    uploads.start(CommandUpload(.file(path: "b.png")), of: "draw") { results.append($0) }
    #expect(results == [.failure(.interrupted), .failure(.interrupted)])
  }

  @Test("while much waits behind a file, nobody should add to it; then it goes out in its order")
  @LoopActor func crowded() async throws {
    let bench = try await FlowBench.online()
    let puppet = Puppet()
    _ = bench.flow.router.commands.add(puppet.command)
    let files = LateFiles()
    bench.flow.uploads.launcher = files
    var told: [Bool] = []
    bench.flow.onCrowded = { told.append($0) }
    try await bench.receive("draw", id: "m1")
    let events = try #require(puppet.events)
    events.perform(.upload(CommandUpload(.file(path: "a.png"))))
    let texts = (1...MessageFlow.mostWaiting).map { "reply \($0)" }
    for text in texts.dropLast() { events.reply(text) }
    #expect(told.isEmpty)
    events.reply(texts[texts.count - 1])
    #expect(told == [true])
    files.answer(.failure(LaunchFailure(log: "it is gone")))
    // Who is read again now comes after all that waited.
    #expect(told == [true])
    await bench.settle()
    await bench.turnOnce()
    #expect(told == [true, false])
    let bodies = bench.sentBodies()
    #expect(bodies.first?.hasPrefix("(there should be a file") == true)
    #expect(bodies.dropFirst() == texts[...])
  }

  @Test("a command that its contact cancels leaves nothing that waits")
  @LoopActor func cancelled() async throws {
    let bench = try await FlowBench.online()
    let puppet = Puppet()
    _ = bench.flow.router.commands.add(puppet.command)
    bench.flow.uploads.launcher = LateFiles()
    try await bench.receive("draw", id: "m1")
    let events = try #require(puppet.events)
    events.perform(.upload(CommandUpload(.file(path: "a.png"))))
    for _ in 0..<MessageFlow.mostWaiting { events.reply("x") }
    #expect(bench.flow.isCrowded)
    events.finish(.cancelled)
    #expect(!bench.flow.isCrowded)
  }

  @Test("handlers are not read meanwhile")
  @LoopActor func handlers() async throws {
    let bench = try await DaemonBench()
    var output = RunningOutput()
    output.isUploading = true
    output.waiting = Array(repeating: .reply("x"), count: MessageFlow.mostWaiting)
    bench.daemon.flow.running[-1] = output
    #expect(!bench.daemon.longRunning.reads)
    bench.daemon.flow.running[-1] = nil
    #expect(await bench.turn { bench.daemon.longRunning.reads })
  }
}
