import Glibc
import Testing

extension Faults {
  @Suite("Programs that misbehave")
  struct HandlerFaults {
    /// Where the programs run.
    enum Place: String, CaseIterable {
      case children = "children of the daemon"
      case service = "the commands' service"
    }

    /// Each is answered once it is over; `MARK` stands for a duration by which is known what must be gone by then.
    static let programs: [(name: String, script: String)] = [
      ("hanging", "exec /bin/sleep MARK"),
      ("deaf", "trap '' TERM INT HUP\n/bin/sleep MARK\n/bin/sleep MARK"),
      ("shouting", "exec /usr/bin/head -c 1G /dev/zero"),
      ("shouting-words", "/usr/bin/yes 'no newline ' | /usr/bin/tr -d '\\n'"),
      ("shouting-lines", "exec /usr/bin/yes \"a line of text\""),
      ("forking", "i=0\nwhile [ $i -lt 200 ]; do /bin/sleep MARK & i=$((i + 1)); done\nwait"),
      ("no-newline", "printf 'no newline'"),
      ("broken", "printf 'NUL \\000, broken \\377\\303( and cut \\303'"),
      ("silent", "exec >&-\nexec /bin/sleep MARK"),
      ("mute", "exec >&- 2>&- <&-\nexec /bin/sleep MARK"),
      ("dying", "printf 'half a li'\nkill -KILL $$"),
      // Its answer is there at once, and what it leaves behind ends with it.
      ("leaving", "/bin/sleep MARK &\necho left\nexit 0"),
    ]

    /// What only the service promises to end: there, orphans stay below the program's supervisor, and the number of
    /// processes is limited.
    static let escaping: [(name: String, script: String)] = [
      ("escaping", "/usr/bin/setsid /bin/sleep MARK &\n(/usr/bin/setsid /bin/sleep MARK &)\necho escaped"),
      ("multiplying", "all() { /usr/bin/setsid /bin/sleep MARK & all & all; }\nall 2>/dev/null"),
      ("patricide", "/usr/bin/setsid /bin/sleep MARK &\nkill -KILL $PPID\nexec /bin/sleep MARK"),
    ]

    @Test(
      "whatever a program does: the time-out holds, all of it ends, others are served", arguments: Faults.oneServer,
      Place.allCases)
    func misbehaving(_ kind: Server.Kind, _ place: Place) throws {
      // Root has no limit of processes.
      let programs = Self.programs + (place == .service && geteuid() == 0 ? Self.escaping : [])
      try FaultRun.carryOut("misbehaving programs in \(place.rawValue)", on: kind) { run in
        let service = place == .service ? try CommandsService(for: run.bot) : nil
        if let service { run.keep(service) }
        // A duration that no other process on the machine sleeps for.
        let mark = "86\(getpid()).\(place == .service ? 75 : 25)"
        // No limit of time for `slow`, a short one for these.
        run.bot.sections += programs.map { program in
          """

          [command \(program.name)]
          exec = \(run.bot.scratch.file("programs/" + program.name))
          allow = everyone
          timeout = 2s
          """
        }.joined()
        for program in programs {
          let script = program.script.split(separator: "MARK", omittingEmptySubsequences: false).joined(separator: mark)
          try run.bot.scratch.write("#!/bin/sh\n\(script)\n", to: "programs/" + program.name, mode: 0o755)
        }
        try run.start()
        let asker = try Contact(run.server.account("asker"), on: run.server, talkingTo: run.bot.account)
        for round in 1...Faults.size(1, 10) {
          run.send(100)
          // Apart from the numbers of the run.
          let numbers = programs.indices.map { -100 * round - $0 }
          for (number, program) in zip(numbers, programs) {
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

    @Test(
      "a daemon that is killed leaves no program behind in the commands' service", arguments: Faults.oneServer)
    func killed(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let service = try CommandsService(for: bot)
      defer { withExtendedLifetime(service) {} }
      let mark = "86\(getpid()).5"
      try bot.addCommand(
        "linger", "# allow: everyone\n/usr/bin/setsid /bin/sleep \(mark) &\ntrap '' TERM HUP\n/bin/sleep \(mark)")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.send("linger")
      _ = try alice.event("message") { $0["chatstate"] == "composing" }
      #expect(try areThere("/bin/sleep \(mark)"), "\(bot.log)")
      bot.signal(SIGKILL)
      _ = try bot.exit()
      #expect(try areGone("/bin/sleep \(mark)"))
    }

    /// Waits until no process has this command line.
    private func areGone(_ command: String) throws -> Bool { try wait(command) { $0 == 0 } }

    /// Waits until a process has this command line.
    private func areThere(_ command: String) throws -> Bool { try wait(command) { $0 > 0 } }

    private func wait(_ command: String, until holds: (Int) -> Bool) throws -> Bool {
      let deadline = Deadline(after: .seconds(20))
      while !deadline.hasPassed {
        let count = try Program.run(["/bin/sh", "-c", "pgrep -c -x -f \"$1\" || :", "sh", command])
        if let count = Int(count.prefix { $0 != "\n" }), holds(count) { return true }
      }
      return false
    }
  }
}
