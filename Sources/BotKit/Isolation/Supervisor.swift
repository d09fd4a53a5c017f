import CLinux
import EventLoop
import Glibc

/// A process between the commands' service and one program: it starts that, tells the daemon how it ended, and when the
/// daemon closes the connection, it kills all that is left. Whatever the program starts can't leave, since orphans become
/// this process's children (PR_SET_CHILD_SUBREAPER), setsid or not.
struct Supervisor {
  private let connection: Int32
  private let stateBase: String
  /// The daemon sends its request with the connection, so it is there at once.
  private static let patience: Int32 = 10_000

  init(_ connection: Int32, stateBase: String) {
    self.connection = connection
    self.stateBase = stateBase
  }

  /// Runs one program to its end, and returns when nothing is left of it.
  func run() {
    _ = linux_adopt_orphans()
    let leader: pid_t
    do throws(LaunchFailure) {
      guard let started = try start() else { return }
      leader = started
    } catch {
      return tell(.notStarted(error))
    }
    guard let signals = try? CommandsService.takeSignals() else { return Descendants.killAll(leader: leader) }
    var hasEnded = false
    while true {
      let ready = CommandsService.wait(for: [connection, signals])
      if ready[1] {
        if CommandsService.isToldToEnd(signals) { break }
        if !hasEnded, let exit = Self.reapOrphans(until: leader) {
          hasEnded = true
          tell(exit)
        }
      }
      if ready[0] {
        guard let signal = nextSignal() else { break }
        // Its number is still its own: it is reaped at the end.
        kill(-leader, signal)
      }
    }
    Descendants.killAll(leader: leader)
  }

  /// Nil when it was something else that was asked for.
  private func start() throws(LaunchFailure) -> pid_t? {
    var descriptors: [Int32] = []
    defer { descriptors.forEach { close($0) } }
    guard CommandsService.wait(for: [connection], milliseconds: Self.patience)[0],
      let packet = try? PacketSocket.receive(from: connection)
    else { throw LaunchFailure(log: "no request came") }
    descriptors = packet.descriptors
    guard packet.strings.first == LaunchMessage.version else {
      throw LaunchFailure(
        log: "the commands' service is of another version than the daemon: systemctl restart 'xmppbotd-commands*'")
    }
    if packet.strings.count == 3 {
      try passFile(packet.strings[2], of: packet.strings[1])
      return nil
    }
    if packet.strings.count == 2, packet.strings[1] == "user" {
      try? PacketSocket.send(["user", "\(geteuid())"], on: connection)
      return nil
    }
    guard descriptors.count == 4, let strings = LaunchMessage.strings(Self.contents(of: descriptors[3])),
      let launch = ProgramLaunch(
        message: strings,
        streams: .init(input: descriptors[0], output: descriptors[1], error: descriptors[2]))
    else { throw LaunchFailure(log: "the request is not complete") }
    var prepared = try PreparedLaunch(launch, stateBase: stateBase)
    // Linux counts what the user has already, other commands included.
    prepared.resources.processes = launch.resources.processes.map {
      $0 == ResourceLimits.unlimited ? $0 : $0 + UserTasks.count()
    }
    // This process lives for one program, which inherits the limits: so they are there from its first moment.
    Spawn.limit(0, prepared.resources)
    prepared.resources = ResourceLimits()
    do {
      return try Spawn.leader(prepared, launch.streams)
    } catch {
      throw LaunchFailure(starting: launch.arguments.first ?? "", error)
    }
  }

  private func passFile(_ path: String, of folder: String) throws(LaunchFailure) {
    guard StateDirectory.isName(folder) else { throw LaunchFailure(log: "no folder can have the name \(folder)") }
    let file = try CommandFile.open(path, in: stateBase + "/" + folder)
    defer { close(file) }
    try? PacketSocket.send(["file"], descriptors: [file], on: connection)
  }

  /// Nil at the connection's end.
  private func nextSignal() -> Int32? {
    guard let packet = try? PacketSocket.receive(from: connection) else { return nil }
    packet.descriptors.forEach { close($0) }
    return packet.strings.first.flatMap { Int32($0) }
  }

  private func tell(_ exit: ProgramExit) {
    // Who is not there any more is told by the end of the connection.
    try? PacketSocket.send(exit.message, on: connection)
  }

  /// Takes up what has ended; how the leader ended, which is left unreaped, if it did.
  private static func reapOrphans(until leader: pid_t) -> ProgramExit? {
    while true {
      var hasExited: Int32 = 0
      var status: Int32 = 0
      let process = linux_ended_child(&hasExited, &status)
      guard process > 0 else { return nil }
      if process == leader { return hasExited != 0 ? .exited(status) : .signalled(status) }
      waitpid(process, nil, 0)
    }
  }

  private static func contents(of file: Int32) -> [UInt8] {
    var status = stat()
    guard fstat(file, &status) == 0, status.st_size > 0 else { return [] }
    let size = Int(status.st_size)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      filled = max(0, pread(file, buffer.baseAddress, size, 0))
    }
  }
}
