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
      // Its answer is there at once, and what it leaves behind ends with it.
      ("leaving", "/bin/sleep MARK &\necho left\nexit 0"),
    ]

    @Test(
      "hanging, deaf, shouting, forking: the time-out holds, the whole group ends, others are served",
      arguments: Faults.oneServer)
    func misbehaving(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("misbehaving programs", on: kind) { run in
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
        try run.start()
        let asker = try Contact(run.server.account("asker"), on: run.server, talkingTo: run.bot.account)
        for round in 1...Faults.size(1, 10) {
          run.send(100)
          // Apart from the numbers of the run.
          let numbers = Self.programs.indices.map { -100 * round - $0 }
          for (number, program) in zip(numbers, Self.programs) {
            asker.tell(
              "raw <message type='chat' to='\(run.bot.account.jid)' id='n\(number)'><body>\(program.name)</body>"
                + "<thread>t\(number)</thread></message>")
          }
          try asker.waitUntil("each of them is answered") { $0.answered.isSuperset(of: numbers) }
          try run.settle()
          run.require(try areGone("/bin/sleep \(mark)"), "processes are left that the programs started")
        }
        try run.finish(growth: 16 * 1_024)
      }
    }

    /// Waits until no process has this command line.
    private func areGone(_ command: String) throws -> Bool {
      let deadline = Deadline(after: .seconds(20))
      while !deadline.hasPassed {
        let count = try Program.run(["/bin/sh", "-c", "pgrep -c -x -f \"$1\" || :", "sh", command])
        if count == "0\n" { return true }
      }
      return false
    }
  }
}
