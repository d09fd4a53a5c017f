import CLinux
import EventLoop
import Glibc

/// The commands' service: starts programs for the daemon, as another user and in a sandbox of its own, so that they
/// reach neither the password nor the archive nor the daemon's memory (docs/decisions/0008-isolation.md).
///
/// It is small, blocks, and holds no state: each connection gets a process of its own (`Supervisor`), which starts one
/// program. This is the program of one thread that forks: nothing of the event loop runs in it.
public struct CommandsService {
  private let listener: Int32
  private let stateBase: String
  private let complain: (String) -> Void
  /// Who may have programs started, besides root.
  private let owner: uid_t
  private let signals: Int32
  private var supervisors: Set<pid_t> = []

  /// Takes SIGTERM, SIGINT and SIGCHLD from now on.
  /// - Parameters:
  ///   - listener: a listening SOCK_SEQPACKET socket. Its file's owner is the daemon's user.
  ///   - stateBase: the folder in which each command has its own.
  ///   - complain: takes lines for the operator.
  public init(listener: Int32, stateBase: String, complain: @escaping (String) -> Void) throws(Errno) {
    self.listener = listener
    self.stateBase = stateBase
    self.complain = complain
    owner = try Self.owner(of: listener)
    _ = linux_adopt_orphans()
    signal(SIGPIPE, SIG_IGN)
    signals = try Self.takeSignals()
  }

  /// Serves until SIGTERM or SIGINT, then ends what runs.
  public mutating func run() {
    while true {
      let ready = Self.wait(for: [listener, signals])
      if ready[1] {
        if Self.isToldToEnd(signals) { return end() }
        reap()
      }
      if ready[0] { accept() }
    }
  }

  private mutating func accept() {
    let connection = Glibc.accept(listener, nil, nil)
    guard connection >= 0 else {
      // Out of descriptors or memory: the connection stays in the queue.
      if errno != EINTR, errno != EAGAIN, errno != ECONNABORTED { poll(nil, 0, 1000) }
      return
    }
    defer { close(connection) }
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
    var user: uid_t = 0
    var process: pid_t = 0
    guard linux_peer(connection, &user, &process) == 0, user == 0 || user == owner else {
      complain("user \(user) (process \(process)) may not have programs started: only root and user \(owner) may")
      return Self.refuse(connection, "user \(user) may not have programs started by this service")
    }
    let parent = getpid()
    let child = linux_fork()
    switch child {
    case -1: Self.refuse(connection, "no process for it: \(Errno(code: errno))")
    case 0:
      close(listener)
      close(signals)
      // If this one is killed, the supervisor ends its program and itself.
      _ = linux_end_with_parent(SIGTERM)
      if getppid() == parent { Supervisor(connection, stateBase: stateBase).run() }
      _exit(0)
    default: supervisors.insert(child)
    }
  }

  private static func refuse(_ connection: Int32, _ reason: String) {
    try? PacketSocket.send(ProgramExit.notStarted(LaunchFailure(log: reason)).message, on: connection)
  }

  /// Takes up ended children. What is no supervisor was left behind by one that was killed.
  private mutating func reap() {
    var status: Int32 = 0
    while case let child = waitpid(-1, &status, WNOHANG), child > 0 {
      if supervisors.remove(child) != nil, status != 0 { complain("a supervisor ended by signal \(status & 0x7f)") }
    }
    for process in Descendants.children(of: getpid()) where !supervisors.contains(process) {
      Descendants.kill(process)
    }
  }

  private mutating func end() {
    close(listener)
    for supervisor in supervisors { kill(supervisor, SIGTERM) }
    // The news of some may have come together with the signal.
    reap()
    while !supervisors.isEmpty {
      _ = Self.wait(for: [signals])
      _ = Self.isToldToEnd(signals)
      reap()
    }
  }

  /// The user that owns the socket's file.
  private static func owner(of listener: Int32) throws(Errno) -> uid_t {
    var address = sockaddr_un()
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
    }
    guard result == 0 else { throw Errno(code: errno) }
    let path = withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    var status = stat()
    guard stat(path, &status) == 0 else { throw Errno(code: errno) }
    return status.st_uid
  }

  /// A descriptor that is readable when one of the signals came that the service and its supervisors wait for.
  static func takeSignals() throws(Errno) -> Int32 {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGTERM, SIGINT, SIGCHLD] { sigaddset(&set, signal) }
    sigprocmask(SIG_BLOCK, &set, nil)
    let descriptor = linux_signal_descriptor(&set)
    guard descriptor >= 0 else { throw Errno(code: errno) }
    return descriptor
  }

  /// Empties the descriptor of signals; whether one of those that end was among them.
  static func isToldToEnd(_ signals: Int32) -> Bool {
    // signalfd_siginfo (signalfd(2)): 128 bytes, of which the first four are the number.
    var information = [UInt32](repeating: 0, count: 32)
    var result = false
    while read(signals, &information, 128) == 128 {
      if information[0] != UInt32(SIGCHLD) { result = true }
    }
    return result
  }

  /// Waits until one of the descriptors is readable or at its end, or so many milliseconds; which of them are.
  static func wait(for descriptors: [Int32], milliseconds: Int32 = -1) -> [Bool] {
    var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    if poll(&polled, nfds_t(polled.count), milliseconds) < 0 { return descriptors.map { _ in false } }
    return polled.map { $0.revents != 0 }
  }
}
