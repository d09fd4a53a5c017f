import CLinux
import Glibc

/// A program that runs. Its output goes into a file, so that it never waits for the test that reads it.
final class Program {
  enum Exit: Equatable, CustomStringConvertible {
    case code(Int32), signal(Int32)
    var description: String {
      switch self {
      case .code(let code): "exit \(code)"
      case .signal(let number): "signal \(number)"
      }
    }
  }

  let pid: pid_t
  /// What it wrote to standard output and, unless that went elsewhere, to standard error.
  let output: LineFile
  /// Readable when it has ended.
  let descriptor: Int32
  private var input: Int32
  private var exited: Exit?
  private let mark: String?

  /// `environment` is added to ours. `output`: the file for what it writes. Guarded: it ends when this process does.
  init(
    _ arguments: [String], environment: [String: String] = [:], output path: String, errors: String? = nil,
    isGuarded: Bool = true
  ) throws {
    // A program that has ended must not end us when we write to it.
    Glibc.signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    guard linux_pipe_cloexec(&ends) == 0 else { throw Problem("pipe: \(systemError())") }
    defer { close(ends[0]) }
    input = ends[1]
    output = try LineFile(path)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    if let errors {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    } else {
      posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // A process group of its own: an interrupt from the keyboard is for the tests, and the rest follows in order.
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var child: pid_t = 0
    let code: Int32 = Self.withStrings(arguments) { words in
      Self.withStrings(Self.merged(environment)) {
        posix_spawn(&child, arguments[0], &actions, &attributes, words, $0)
      }
    }
    guard code == 0 else {
      close(input)
      throw Problem("\(arguments[0]) does not start: \(systemError(code))")
    }
    pid = child
    descriptor = linux_pidfd_open(child)
    mark = isGuarded ? try? Scratch.root.get() + "/running/\(child)" : nil
    if let mark { close(open(mark, O_CREAT | O_WRONLY, 0o600)) }
  }

  deinit {
    if exited == nil {
      kill(pid, SIGCONT)
      kill(pid, SIGKILL)
      reap()
    }
    closeInput()
    close(descriptor)
  }

  var isRunning: Bool {
    exited == nil && !Deadline(after: .milliseconds(1)).awaitReadable([descriptor])
  }

  func signal(_ number: Int32) {
    if exited == nil { kill(pid, number) }
  }

  func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Waits until it has ended.
  func exit(within time: Duration = .seconds(30)) throws -> Exit {
    if let exited { return exited }
    guard Deadline(after: time).awaitReadable([descriptor]) else {
      throw Problem("it still runs after \(time). \(output.tail)")
    }
    return reap()
  }

  /// Waits for a line that `matches` among those not yet taken, and takes it.
  func line(within time: Duration = .seconds(30), where matches: (String) -> Bool) throws -> String {
    let deadline = Deadline(after: time)
    while true {
      let hasEnded = exited != nil || !isRunning
      if let line = output.take(where: matches) { return line }
      guard !hasEnded else { throw Problem("it ended without the line that was expected. \(output.tail)") }
      guard deadline.awaitReadable([output.changes, descriptor]) else {
        throw Problem("the line that was expected did not come within \(time). \(output.tail)")
      }
    }
  }

  @discardableResult
  private func reap() -> Exit {
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    if let mark { unlink(mark) }
    let exit = status & 0x7f == 0 ? Exit.code((status >> 8) & 0xff) : .signal(status & 0x7f)
    exited = exit
    return exit
  }

  /// Runs a program to its end; what it wrote, if it succeeded.
  @discardableResult
  static func run(_ arguments: [String], input: String? = nil) throws -> String {
    let file = try Scratch.root.get() + "/output.\(Counter.next())"
    defer { unlink(file) }
    let program = try Program(arguments, output: file)
    if let input { program.write(input) }
    program.closeInput()
    let exit = try program.exit(within: .seconds(120))
    let text = contents(of: file)
    guard exit == .code(0) else { throw Problem("\(arguments.joined(separator: " ")): \(exit)\n\(text)") }
    return text
  }

  private static func merged(_ own: [String: String]) -> [String] {
    var variables: [String] = own.map { "\($0.key)=\($0.value)" }
    var entry = environ
    while let variable = entry.pointee {
      let text = String(cString: variable)
      let name = String(text.prefix { $0 != "=" })
      // What a service manager told us is not for the daemons of the tests.
      if own[name] == nil,
        !["NOTIFY_SOCKET", "JOURNAL_STREAM", "WATCHDOG_USEC", "CREDENTIALS_DIRECTORY"].contains(name)
      {
        variables.append(text)
      }
      entry += 1
    }
    return variables
  }

  private static func withStrings<T>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> T) -> T {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}
