import Glibc
import Testing

extension Faults {
  @Suite("The database")
  struct DatabaseFaults {
    @Test(
      "damaged while the daemon is stopped: set aside, loudly, and never silently empty", arguments: Faults.oneServer)
    func stopped(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("database damaged, stopped", on: kind) { run in
        try run.start()
        run.send(100)
        try run.settle()
        run.require(try run.bot.stop() == .code(0), "the exit is not 0")
        try damage(run)
        run.forgive()
        try run.outage { try run.bot.start() }
        try judge(run)
        run.send(100)
        try run.finish()
      }
    }

    @Test("damaged while the daemon runs: the same, after a restart at the latest", arguments: Faults.oneServer)
    func running(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("database damaged, running", on: kind) { run in
        try run.start()
        run.send(100)
        try run.settle()
        try damage(run)
        run.bot.forgetLog()
        // Enough that the damaged pages are needed.
        run.send(100)
        try run.settle(.seconds(3))
        run.forgive()
        if run.bot.program?.isRunning == true { run.bot.signal(SIGTERM) }
        _ = try run.bot.exit()
        try run.outage { try run.bot.start() }
        try judge(run)
        run.send(100)
        try run.finish()
      }
    }

    /// All pages but the first are noise.
    private func damage(_ run: FaultRun) throws {
      try Program.run(["/usr/bin/sqlite3", run.bot.archivePath, "PRAGMA wal_checkpoint(TRUNCATE)"])
      try Program.run([
        "/usr/bin/python3", "-c",
        """
        import os, random, sys
        noise = random.Random(int(sys.argv[2]))
        with open(sys.argv[1], "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(4096)
            file.write(noise.randbytes(size - 4096))
        """, run.bot.archivePath, String(SeededGenerator.seed),
      ])
    }

    /// The damaged file is kept beside the new one, and the log names it.
    private func judge(_ run: FaultRun) throws {
      let names = try Program.run(["/bin/ls", run.bot.scratch.path]).split(separator: "\n").map(String.init)
      let kept = names.filter { name in
        name.hasPrefix("archive.db")
          && !["archive.db", "archive.db-wal", "archive.db-shm", "archive.db-lock"].contains(name)
          && run.bot.log.contains(name)
      }
      run.require(!kept.isEmpty, "the damaged file is not kept under a name that the log tells: \(names)")
    }
  }
}
