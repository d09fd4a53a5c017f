import Glibc
import Testing

extension Faults {
  @Suite("Programs that misbehave")
  struct HandlerFaults {
    /// Each is answered once it is over; `marked` names what must be gone by then.
    static let programs: [(name: String, script: String)] = [
      ("hanging", "exec /bin/sleep MARK"),
      ("deaf", "trap '' TERM INT HUP\n/bin/sleep MARK\n/bin/sleep MARK"),
      ("shouting", "exec /usr/bin/head -c 1G /dev/zero"),
      ("shouting-lines", "exec /usr/bin/yes \"a line of text\""),
      ("forking", "i=0\nwhile [ $i -lt 200 ]; do /bin/sleep MARK & i=$((i + 1)); done\nwait"),
      ("leaving", "/bin/sleep MARK &\necho left\nexit 0"),
    ]

    @Test(
      "hanging, deaf, shouting, forking: the time-out holds, the whole group ends, others are served",
      arguments: Faults.oneServer)
    func misbehaving(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("misbehaving programs", on: kind, sections: "[log]\nlevel = warning") { run in
        // A duration that no other process on the machine sleeps for.
        let mark = "86\(getpid()).25"
        // No limit of time for `slow`, a short one for these.
        run.bot.sections += Self.programs.map { program in
          """

          [command \(program.name)]
          exec = \(run.bot.scratch.file("programs/" + program.name))
          allow = everyone
          timeout = 2s
          """
        }.joined()
        for program in Self.programs {
          let script = program.script.split(separator: "MARK", omittingEmptySubsequences: false).joined(separator: mark)
          try run.bot.scratch.write("#!/bin/sh\n\(script)\n", to: "programs/" + program.name, mode: 0o755)
        }
        run.bot.sections = run.bot.sections.replacing("level = warning", with: "level = info")
        try run.start()
        let victim = try run.bot.peer(on: run.server)
        for round in 1...Faults.size(1, 10) {
          run.send(100)
          for program in Self.programs { victim.send(program.name, id: "\(program.name)-\(round)") }
          for _ in Self.programs { _ = try victim.message(within: .seconds(60)) }
          run.require(try victim.ask("ping") == "pong", "the one who asked for them is not served any more")
          try run.settle()
        }
        let left = try Program.run(["/bin/sh", "-c", "pgrep -c -f \"sleep $1\" || :", "sh", mark])
        // `pgrep` does not count itself, but the shell whose command line it reads.
        run.require((Int(left.prefix { $0 != "\n" }) ?? 0) <= 1, "processes are left: \(left)")
        try run.finish(growth: 16 * 1_024)
      }
    }
  }
}
