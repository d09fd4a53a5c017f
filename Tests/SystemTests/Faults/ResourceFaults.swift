import Glibc
import Testing

extension Faults {
  @Suite("Memory and descriptors")
  struct ResourceFaults {
    @Test("out of memory: restarted or degraded, nothing lost", arguments: Faults.oneServer)
    func memory(_ kind: Server.Kind) throws {
      if let obstacle = MemoryGroup.obstacle {
        return FaultTable.notRun("out of memory", kind.rawValue, because: obstacle)
      }
      try FaultRun.carryOut("out of memory", on: kind) { run in
        let group = try MemoryGroup()
        try run.start()
        run.send(100)
        try run.awaitSent(50)
        let pid = try #require(run.bot.program?.pid)
        try group.take(pid)
        // From here each new page counts, and soon there is none.
        try group.allow(more: 256 * 1_024)
        let large = Faults.size(30, 1_000)
        let text = String(repeating: "x", count: 100_000)
        let other = try Contact(run.server.account("large"), on: run.server, talkingTo: run.bot.account)
        try other.repeat(
          large,
          "<message type='chat' to='\(run.bot.account.jid)' id='large{n}'><body>ping \(text)</body></message>")
        // Killed or not: what a service manager does.
        if run.bot.program?.isRunning == true, !run.bot.log.contains("out of memory") {
          let answered = try run.bot.control("status").exit == .code(0)
          run.require(answered || run.bot.program?.isRunning == false, "it neither ended nor works")
        }
        if run.bot.program?.isRunning == true { run.bot.signal(SIGKILL) }
        _ = try run.bot.exit()
        try run.outage { try run.bot.start() }
        try other.waitUntil("the large ones are answered", within: .seconds(Faults.size(60, 600))) {
          $0.arrivals.count >= large
        }
        run.send(50)
        try run.finish(growth: 64 * 1_024)
      }
    }

    @Test("out of descriptors: degraded, and well again by itself", arguments: Faults.oneServer)
    func descriptors(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("out of descriptors", on: kind) { run in
        let relay = try Relay(to: run.server)
        run.bot.set("port", relay.port)
        try run.start()
        run.send(200)
        try run.awaitSent(50)
        let pid = try #require(run.bot.program?.pid)
        let before = contents(of: "/proc/\(pid)/limits").split(separator: "\n").first { $0.hasPrefix("Max open files") }
        let hard = before?.split(separator: " ").last { Int($0) != nil }.map(String.init) ?? "1024"
        // The lowest number that is not taken is the limit: no program, no connection, no file from now on.
        try limit(pid, "0:\(hard)")
        try run.awaitSent(50)
        try run.outage {
          relay.reset()
          try run.bot.logged("next attempt in", within: .seconds(20))
          try run.bot.logged("next attempt in", within: .seconds(60))
          try limit(pid, "\(hard):\(hard)")
        }
        run.require(run.bot.program?.pid == pid && run.bot.program?.isRunning == true, "it did not stay up")
        try run.finish()
      }
    }

    private func limit(_ pid: pid_t, _ value: String) throws {
      try Program.run(["/usr/bin/prlimit", "--pid", String(pid), "--nofile=\(value)"])
    }
  }
}
