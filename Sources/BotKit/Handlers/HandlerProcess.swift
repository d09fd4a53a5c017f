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
    var ended: @LoopActor (ProcessGroup.Exit?) -> Void = { _ in }
  }

  private let hooks: Hooks
  private let limits: HandlerLimits
  private var group: ProcessGroup?
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
    _ handler: HandlerDescription, limits: HandlerLimits, hooks: Hooks
  ) throws(StartFailure) {
    self.hooks = hooks
    self.limits = limits
    lines = LineBuffer(longest: limits.line)
    errorLines = LineBuffer(longest: 4096)
    let path = handler.words.first ?? ""
    do { _ = try FileTrust.check(path) } catch { throw StartFailure(log: error.description) }
    let directory: String
    do {
      directory = try StateDirectory.prepare(base: handler.stateBase, command: handler.name)
    } catch {
      throw StartFailure(log: "\(handler.stateBase)/\(handler.name): no folder for the handler's state: \(error)")
    }
    let environment = ProgramEnvironment.variables(forHandler: handler.name, stateDirectory: directory)
    do {
      try start(handler.words, environment, directory)
    } catch {
      throw StartFailure(starting: path, error)
    }
  }

  private func start(_ words: [String], _ environment: [String], _ directory: String) throws(Errno) {
    var ends: [Int32] = []
    var theirs: [Int32] = []
    defer { theirs.forEach { close($0) } }
    do {
      for ours in [Pipe.Side.writing, .reading, .reading] {
        let pipe = try Pipe(ours: ours)
        ends.append(ours == .reading ? pipe.reading : pipe.writing)
        theirs.append(ours == .reading ? pipe.writing : pipe.reading)
      }
      group = try ProcessGroup(
        ProcessGroup.Launch(
          arguments: words, environment: environment, directory: directory, input: theirs[0], output: theirs[1],
          error: theirs[2])
      ) { [unowned self] in finish() }
    } catch {
      ends.forEach { close($0) }
      throw error
    }
    input = StreamWriter(ends[0], onWritten: hooks.written)
    output = PipeReader(ends[1]) { [unowned self] in
      lines.add($0)
      deliver()
    } onEnd: { [unowned self] in
      terminate()
    }
    errors = PipeReader(ends[2]) { [unowned self] in
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
    guard !isTerminating, let group else { return }
    isTerminating = true
    group.send(SIGTERM)
    timer = TimerSource(after: limits.killGrace) { [unowned self] in
      self.group?.send(SIGKILL)
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
    guard let group else { return }
    self.group = nil
    timer?.cancel()
    // What it said before its end counts, however fast it was.
    output?.drain()
    errors?.drain()
    input?.close()
    output?.close()
    errors?.close()
    let exit = group.reap()
    while let line = lines.next() { hooks.line(line) }
    if let rest = lines.end() { hooks.line(rest) }
    deliverErrors()
    if let rest = errorLines.end() { tellError(rest) }
    hooks.ended(exit)
  }
}

extension ProcessGroup.Exit {
  var text: String {
    switch self {
    case .exited(let code): "exit \(code)"
    case .signalled(let signal): "signal \(signal)"
    }
  }
}
