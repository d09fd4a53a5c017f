import Glibc
import Testing

extension Faults {
  @Suite("The daemon")
  struct DaemonFaults {
    @Test("killed at random points: every message once, every reply once", arguments: Faults.servers)
    func killed(_ kind: Server.Kind) throws {
      let kills = Faults.size(20, 200)
      try FaultRun.carryOut("daemon killed \(kills) times", on: kind) { run in
        var random = SeededGenerator()
        try run.start()
        run.send(kills * 20, rate: 60, says: kills * 2)
        for _ in 1...kills {
          try run.awaitSent(Int.random(in: 1...20, using: &random))
          try run.outage {
            run.bot.signal(SIGKILL)
            run.require(try run.bot.exit() == .signal(SIGKILL), "it ended by itself")
            try run.bot.start()
          }
        }
        try run.finish()
      }
    }

    @Test("restarted in order: every message once, every reply once", arguments: Faults.servers)
    func restarted(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("daemon restarted", on: kind) { run in
        try run.start()
        run.send(Faults.size(200, 10_000), rate: Faults.rate(kind))
        for _ in 1...Faults.size(3, 20) {
          try run.awaitSent(40)
          try run.outage {
            run.require(try run.bot.stop() == .code(0), "the exit is not 0")
            try run.bot.start()
          }
        }
        try run.finish()
      }
    }

    @Test(
      "away while many messages came, and more come during the catch-up", .enabled(if: Faults.isLong),
      arguments: Faults.servers)
    func away(_ kind: Server.Kind) throws {
      let count = 4_000
      // The catch-up brings many commands at once.
      try FaultRun.carryOut("\(count) messages while away", on: kind, concurrent: 300) { run in
        try run.start()
        run.send(50)
        try run.settle()
        run.require(try run.bot.stop() == .code(0), "the exit is not 0")
        run.send(count, rate: 0, says: 0)
        try run.contact.waitUntil("all of them are sent", within: .seconds(600)) { $0.sent.count >= run.lastPing }
        run.send(100)
        try run.outage { try run.bot.start() }
        try run.settle(.seconds(60))
        run.require(!run.bot.log.contains("disconnected"), "the stream ended during the catch-up")
        try run.finish()
      }
    }
  }
}
