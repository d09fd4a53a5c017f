import EventLoop
import Glibc

/// One run of a handler's program: lines out of it, bytes into it. It ends when the program does, or its standard output,
/// for then nothing can be heard from it.
@LoopActor
final class HandlerProcess {
  struct Hooks {
    var line: @LoopActor (LineBuffer.Line) -> Void = { _ in }
    /// A line of its standard error.
    var errorLine: @LoopActor (String) -> Void = { _ in }
    /// So many bytes more were read by it, or lie in the pipe.
    var written: @LoopActor (Int) -> Void = { _ in }
    /// It has ended; nothing is heard after that.
    var ended: @LoopActor (ProgramExit) -> Void = { _ in }
  }

  private let hooks: Hooks
  private let limits: HandlerLimits
  private var program: (any LaunchedProgram)?
  private var input: StreamWriter?
  private var output: PipeReader?
  private var errors: PipeReader?
  private var lines: LineBuffer
  private var errorLines: LineBuffer
  private var timer: TimerSource?
  private var isReading = true
  private var isDelivering = false
  private var isTerminating = false
  let began = ContinuousClock.now

  init(
    _ handler: HandlerDescription, launcher: any ProgramLauncher, limits: HandlerLimits, hooks: Hooks
  ) throws(LaunchFailure) {
    self.hooks = hooks
    self.limits = limits
    lines = LineBuffer(longest: limits.line)
    errorLines = LineBuffer(longest: 4096)
    let pipes = try StandardPipes(starting: handler.words.first ?? "")
    defer { pipes.closeTheirs() }
    do throws(LaunchFailure) {
      program = try launcher.start(
        ProgramLaunch(
          arguments: handler.words, environment: ["XMPPBOT_API=1", "XMPPBOT_HANDLER=\(handler.name)"],
          folder: handler.folder, resources: handler.resources, streams: pipes.theirs)
      ) { [unowned self] in finish() }
    } catch {
      pipes.closeOurs()
      throw error
    }
    input = StreamWriter(pipes.input, onWritten: hooks.written)
    output = PipeReader(pipes.output) { [unowned self] in
      lines.add($0)
      deliver()
    } onEnd: { [unowned self] in
      terminate()
    }
    errors = PipeReader(pipes.error) { [unowned self] in
      errorLines.add($0)
      deliverErrors()
    } onEnd: {
    }
  }

  func write(_ bytes: [UInt8]) { input?.write(bytes) }

  /// It is told that nothing more comes.
  func endInput() { input?.end() }

  /// Whether its lines are read. While they are not, the pipe fills, and it waits.
  func setReading(_ reads: Bool) {
    guard reads != isReading else { return }
    isReading = reads
    if reads {
      output?.resume()
      deliver()
    } else {
      output?.pause()
    }
  }

  /// Ends it: TERM to its whole group, then KILL.
  func terminate() {
    guard !isTerminating, let program else { return }
    isTerminating = true
    program.send(SIGTERM)
    timer = TimerSource(after: limits.killGrace) { [unowned self] in
      self.program?.send(SIGKILL)
      // One that hangs in the kernel is left behind.
      timer = TimerSource(after: limits.killGrace) { [unowned self] in finish() }
    }
  }

  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while isReading, let line = lines.next() { hooks.line(line) }
    isDelivering = false
  }

  private func deliverErrors() {
    while let line = errorLines.next() { tellError(line) }
  }

  private func tellError(_ line: LineBuffer.Line) {
    switch line {
    case .line(let bytes): hooks.errorLine(OutputText.clean(bytes))
    case .tooLong(let count): hooks.errorLine("(a line of \(count) bytes)")
    }
  }

  private func finish() {
    guard let program else { return }
    self.program = nil
    timer?.cancel()
    // What it said before its end counts, however fast it was.
    output?.drain()
    errors?.drain()
    input?.close()
    output?.close()
    errors?.close()
    let exit = program.reap()
    while let line = lines.next() { hooks.line(line) }
    if let rest = lines.end() { hooks.line(rest) }
    deliverErrors()
    if let rest = errorLines.end() { tellError(rest) }
    hooks.ended(exit)
  }
}

extension ProgramExit {
  /// In words that follow "ended".
  var asHandlerEnd: String {
    switch self {
    case .exited(let code): "exit \(code)"
    case .signalled(let signal): "signal \(signal)"
    case .notStarted(let failure): failure.log
    case .unknown: "nobody knows how"
    }
  }
}
