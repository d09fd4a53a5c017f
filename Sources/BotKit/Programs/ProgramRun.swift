import EventLoop
import Glibc

/// One run of a program. It ends when the program and its output have ended, or shortly after the program alone has, or
/// after `stop`; what is left of its process group is killed then.
@LoopActor
final class ProgramRun: RunningCommand {
  private let command: ProgramCommand
  private let name: String
  private let events: CommandEvents
  private var program: (any LaunchedProgram)?
  private var input: StreamWriter?
  private var output: PipeReader?
  private var errors: PipeReader?
  private var timer: TimerSource?
  private var printed: [UInt8] = []
  private var live: LiveOutput?
  private var lines = LineSplitter()
  private var stopped: CommandResult?
  private var exited = false

  init(_ command: ProgramCommand, _ request: CommandRequest, _ events: CommandEvents) throws(LaunchFailure) {
    self.command = command
    self.events = events
    name = request.command
    if command.isLive { live = LiveOutput { [unowned self] in showProgress() } }
    let pipes = try StandardPipes(starting: command.words.first ?? "")
    defer { pipes.closeTheirs() }
    do throws(LaunchFailure) {
      program = try command.launcher.start(
        ProgramLaunch(
          arguments: command.words + request.arguments, environment: ProgramEnvironment.variables(for: request),
          folder: request.command, resources: command.limits.resources, streams: pipes.theirs)
      ) { [unowned self] in leaderEnded() }
    } catch {
      pipes.closeOurs()
      throw error
    }
    output = PipeReader(pipes.output) { [unowned self] in
      print($0)
    } onEnd: { [unowned self] in
      finishIfEnded()
    }
    errors = PipeReader(pipes.error) { [unowned self] in
      log($0)
    } onEnd: { [unowned self] in
      finishIfEnded()
    }
    input = StreamWriter(pipes.input)
    input?.write(Array(request.text.utf8))
    input?.end()
  }

  func stop(_ reason: CommandResult) {
    // Once the program itself has ended, only its output was waited for: then that is the end, and no fault.
    if exited { return finish() }
    guard stopped == nil else { return }
    stopped = reason
    terminate()
  }

  private func terminate() {
    program?.send(SIGTERM)
    timer = TimerSource(after: command.limits.killGrace) { [unowned self] in
      program?.send(SIGKILL)
      // One that hangs in the kernel does not even die then: its place is given free all the same.
      timer = TimerSource(after: command.limits.killGrace) { [unowned self] in finish() }
    }
  }

  private func print(_ bytes: UnsafeRawBufferPointer) {
    let room = command.limits.output - printed.count
    printed.append(contentsOf: bytes.prefix(room))
    live?.changed()
    guard bytes.count > room else { return }
    output?.close()
    guard stopped == nil else { return }
    stopped = .outputLimit(command.limits.output)
    if exited { finish() } else { terminate() }
  }

  private func log(_ bytes: UnsafeRawBufferPointer) {
    for line in lines.add(bytes) { events.log(line) }
  }

  private func leaderEnded() {
    exited = true
    if stopped != nil { return finish() }
    if output?.isOpen == true || errors?.isOpen == true {
      timer = TimerSource(after: command.limits.closeGrace) { [unowned self] in finish() }
    }
    finishIfEnded()
  }

  private func finishIfEnded() {
    if exited, output?.isOpen != true, errors?.isOpen != true { finish() }
  }

  private func finish() {
    guard let program else { return }
    self.program = nil
    output?.drain()
    errors?.drain()
    timer?.cancel()
    live?.end()
    input?.close()
    output?.close()
    errors?.close()
    let exit = program.reap()
    for line in lines.end() { events.log(line) }
    if case .notStarted(let failure) = exit { events.log(failure.log) }
    let result = stopped ?? Self.result(exit)
    let answer = ProgramAnswer(printed, result, name: name, style: command.style)
    if let file = answer.file { events.perform(.upload(file)) }
    events.finish(result, answer.text)
  }

  private func showProgress() {
    // More than that no messages show.
    guard printed.count <= 262_144 else { return }
    let answer = ProgramAnswer(progress: printed, style: command.style)
    if let text = answer.text { events.perform(.progress(text)) }
  }

  /// Exit codes by sysexits.h: EX_USAGE, EX_TEMPFAIL, EX_NOPERM.
  private static func result(_ exit: ProgramExit) -> CommandResult {
    switch exit {
    case .exited(0): .done
    case .exited(64): .usage
    case .exited(75): .tryLater
    case .exited(77): .notAllowed
    case .exited(let code): .exited(code)
    case .signalled(let signal): .failed("ended by signal \(signal)")
    case .notStarted(let failure): .failed(failure.reply)
    case .unknown: .failed("how it ended is not known")
    }
  }
}
