import EventLoop
import Glibc
import Systemd
import Transport
import XMPPClient

/// What the daemon stands on besides its parts: the network, time, and the process. Tests bring their own.
@LoopActor
struct Surroundings {
  var dialer: any Dialer
  /// Replaces what new connections trust.
  var trust: @LoopActor (TLSContext) -> Void
  var scheduler: any Scheduler
  /// Microseconds since 1970, UTC.
  var wallClock: @LoopActor () -> Int64
  /// The service manager stops us in order to start us again.
  var isRestarting: @LoopActor () -> Bool = { false }
  /// Ends the process.
  var exit: @LoopActor (ExitCode) -> Void

  /// Those of a real process.
  static func process(trusting context: TLSContext) -> Surroundings {
    let dialer = NetworkDialer(context: context)
    return Surroundings(
      dialer: dialer, trust: { dialer.context = $0 }, scheduler: LoopScheduler(), wallClock: now,
      isRestarting: { ServiceJob.isRestart() },
      exit: { EventLoop.main.exit($0.rawValue) })
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
