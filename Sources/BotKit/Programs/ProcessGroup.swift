import CLinux
import EventLoop
import Glibc

/// A program in a process group of its own. The leader is reaped only by `reap()`, so that until then its number, which is the
/// group's too, cannot belong to anybody else.
@LoopActor
final class ProcessGroup: LaunchedProgram {
  private let leader: pid_t
  private let descriptor: Int32
  private var source: DescriptorSource?
  private var reaped = false

  /// `onExit`: the leader has ended.
  init(
    _ launch: PreparedLaunch, _ streams: ProgramLaunch.Streams, onExit: @escaping @LoopActor () -> Void
  ) throws(Errno) {
    // A program that ends before it has read its input must not end the daemon.
    signal(SIGPIPE, SIG_IGN)
    leader = try Spawn.leader(launch, streams)
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

  func send(_ signal: Int32) {
    if !reaped { kill(-leader, signal) }
  }

  /// A leader that hangs in the kernel is left behind as a zombie.
  func reap() -> ProgramExit {
    guard !reaped else { return .unknown }
    send(SIGKILL)
    var status: Int32 = 0
    let result = waitpid(leader, &status, WNOHANG)
    close()
    return result == leader ? ProgramExit(status: status) : .unknown
  }

  private func close() {
    reaped = true
    source?.cancel()
    source = nil
    Glibc.close(descriptor)
  }

  isolated deinit { _ = reap() }
}

extension ProgramExit {
  /// What waitpid(2) tells.
  init(status: Int32) {
    let signal = status & 0x7f
    self = signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}
