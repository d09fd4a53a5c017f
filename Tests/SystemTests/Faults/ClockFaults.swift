import Glibc
import Testing

extension Faults {
  @Suite("Clocks")
  struct ClockFaults {
    @Test("a wall clock that is a year ahead: all works", arguments: Faults.oneServer)
    func ahead(_ kind: Server.Kind) throws {
      try carryOut("clock a year ahead", on: kind, 365) { run, _ in
        run.send(100)
        try run.settle()
      }
    }

    @Test(
      "a wall clock that is a year behind: the certificate is refused, until the clock is right",
      arguments: Faults.oneServer)
    func behind(_ kind: Server.Kind) throws {
      if let obstacle = WallClock.obstacle {
        return FaultTable.notRun("clock a year behind", kind.rawValue, because: obstacle)
      }
      try FaultRun.carryOut("clock a year behind", on: kind) { run in
        let clock = try WallClock(days: -365)
        try run.bot.start(environment: clock.environment)
        let line = try run.bot.logged("tls-refused: ")
        run.require(line.contains("valid only from"), "it does not say since when the certificate is valid: \(line)")
        run.require(line.contains("clock"), "it does not name the clock: \(line)")
        try run.outage {
          try clock.set(days: 0)
          try Faults.redial(run, 1)
        }
        run.send(100)
        try run.finish()
      }
    }

    @Test("a wall clock that jumps a year ahead and back: no storm, and order kept", arguments: Faults.oneServer)
    func jumps(_ kind: Server.Kind) throws {
      try carryOut("clock jumps", on: kind, 0) { run, clock in
        run.send(Faults.size(300, 2_000))
        // Two of these steps go back.
        for days in [365, -1, 1, -30, 0] {
          try run.awaitSent(50)
          try clock.set(days: days)
        }
        try run.settle()
        run.require(!run.bot.log.contains("disconnected"), "the stream ended")
        run.require(run.bot.log.split(separator: "\n").count < 1_000, "a storm in the log")
        let backward = try run.bot.rows(
          "SELECT id FROM (SELECT id, time, lag(time) OVER (ORDER BY id) AS before FROM message) WHERE time < before")
        run.require(
          backward.count <= 2, "\(backward.count) rows are older than the one before, where the clock went back twice")
      }
    }

    @Test("monotonic clocks that begin elsewhere, as after a reboot: resumed or caught up", arguments: Faults.oneServer)
    func monotonic(_ kind: Server.Kind) throws {
      if let obstacle = Self.timeObstacle {
        return FaultTable.notRun("monotonic jump", kind.rawValue, because: obstacle)
      }
      try FaultRun.carryOut("monotonic jump", on: kind) { run in
        try run.start()
        run.send(200)
        for offset in [365 * 86_400, 0] {
          try run.awaitSent(50)
          run.bot.signal(SIGKILL)
          _ = try run.bot.exit()
          run.bot.launcher = [
            "/usr/bin/unshare", "-T", "--boottime", String(offset), "--monotonic", String(offset),
          ]
          try run.outage { try run.bot.start() }
        }
        try run.finish()
      }
    }

    private static let timeObstacle: String? = {
      do {
        try Program.run(["/usr/bin/unshare", "-T", "--boottime", "100", "/bin/true"])
        return nil
      } catch {
        return "no time namespace"
      }
    }()

    private func carryOut(
      _ fault: String, on kind: Server.Kind, _ days: Int, _ body: (FaultRun, WallClock) throws -> Void
    ) throws {
      if let obstacle = WallClock.obstacle { return FaultTable.notRun(fault, kind.rawValue, because: obstacle) }
      try FaultRun.carryOut(fault, on: kind) { run in
        let clock = try WallClock(days: days)
        try run.start(environment: clock.environment)
        try body(run, clock)
        try run.finish()
      }
    }
  }
}
