import CLinux
import EventLoop
import Glibc

/// Starts a child process with posix_spawn(3).
enum Spawn {
  /// Starts it as the leader of a process group, with only the three descriptors open, no signal blocked or ignored.
  static func leader(_ launch: PreparedLaunch, _ streams: ProgramLaunch.Streams) throws(Errno) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, streams.input, 0)
    posix_spawn_file_actions_adddup2(&actions, streams.output, 1)
    posix_spawn_file_actions_adddup2(&actions, streams.error, 2)
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
    let result = posix_spawn(&process, launch.program, &actions, &attributes, &arguments, &environment)
    guard result == 0 else { throw Errno(code: result) }
    // posix_spawn can't set limits, so they follow: the program is being loaded at this moment.
    limit(process, launch.resources)
    return process
  }

  /// Limits a process, and those that it starts from now on; 0: this one.
  static func limit(_ process: pid_t, _ resources: ResourceLimits) {
    if let memory = resources.memory { limit(process, LINUX_RLIMIT_DATA, memory, memory) }
    if let processes = resources.processes { limit(process, LINUX_RLIMIT_NPROC, processes, processes) }
    // At the first it gets SIGXCPU, at the second it is killed.
    if let seconds = resources.seconds { limit(process, LINUX_RLIMIT_CPU, seconds, seconds &+ 1) }
  }

  private static func limit(_ process: pid_t, _ resource: Int32, _ soft: Int, _ hard: Int) {
    guard soft != ResourceLimits.unlimited else { return }
    // Refused only where an operator has set a lower one.
    _ = linux_limit(process, resource, UInt64(clamping: soft), UInt64(clamping: hard))
  }
}
