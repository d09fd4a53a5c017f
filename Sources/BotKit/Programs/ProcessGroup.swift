import CLinux
import EventLoop
import Glibc

/// A program in a process group of its own. The leader is reaped only by `reap()`, so that until then its number, which is the
/// group's too, cannot belong to anybody else.
@LoopActor
final class ProcessGroup {
  /// What is started. Strings must not contain NUL.
  struct Launch {
    /// The program's path and arguments; no shell, no search along PATH.
    let arguments: [String]
    let environment: [String]
    let directory: String
    let input: Int32
    let output: Int32
    let error: Int32
  }

  /// How the leader ended.
  enum Exit {
    case exited(Int32)
    case signalled(Int32)
  }

  private let leader: pid_t
  private let descriptor: Int32
  private var source: DescriptorSource?
  private var reaped = false

  /// Starts it with only the three descriptors open, no signal blocked or ignored. `onExit`: the leader has ended.
  init(_ launch: Launch, onExit: @escaping @LoopActor () -> Void) throws(Errno) {
    // A program that ends before it has read its input must not end the daemon.
    signal(SIGPIPE, SIG_IGN)
    leader = try Self.spawn(launch)
    descriptor = linux_pidfd_open(leader)
    guard descriptor >= 0 else {
      let code = errno
      kill(-leader, SIGKILL)
      waitpid(leader, nil, 0)
      throw Errno(code: code)
    }
    source = DescriptorSource(descriptor, .readable) { [unowned self] _ in
      source?.cancel()
      onExit()
    }
  }

  /// Sends a signal to every process of the group.
  func send(_ signal: Int32) {
    if !reaped { kill(-leader, signal) }
  }

  /// Kills what is left of the group and takes the leader's exit status; nil while it cannot be had, which is when the
  /// leader hangs in the kernel: then it is left behind as a zombie.
  func reap() -> Exit? {
    guard !reaped else { return nil }
    send(SIGKILL)
    var status: Int32 = 0
    let result = waitpid(leader, &status, WNOHANG)
    close()
    guard result == leader else { return nil }
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }

  private func close() {
    reaped = true
    source?.cancel()
    source = nil
    Glibc.close(descriptor)
  }

  isolated deinit { _ = reap() }

  private nonisolated static func spawn(_ launch: Launch) throws(Errno) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, launch.input, 0)
    posix_spawn_file_actions_adddup2(&actions, launch.output, 1)
    posix_spawn_file_actions_adddup2(&actions, launch.error, 2)
    linux_spawn_close_from(&actions, 3)
    linux_spawn_change_directory(&actions, launch.directory)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments = launch.arguments.map { strdup($0) } + [nil]
    var environment = launch.environment.map { strdup($0) } + [nil]
    defer { (arguments + environment).forEach { free($0) } }
    var process: pid_t = 0
    guard let path = arguments.first ?? nil else { throw Errno(code: ENOENT) }
    let result = posix_spawn(&process, path, &actions, &attributes, &arguments, &environment)
    guard result == 0 else { throw Errno(code: result) }
    return process
  }
}
