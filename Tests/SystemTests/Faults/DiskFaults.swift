import Glibc
import Testing

extension Faults {
  @Suite("The disk")
  struct DiskFaults {
    @Test("full: stops acknowledging, stays up, says so, and goes on by itself", arguments: Faults.oneServer)
    func full(_ kind: Server.Kind) throws {
      if let obstacle = SmallDisk.obstacle { return FaultTable.notRun("disk full", kind.rawValue, because: obstacle) }
      try FaultRun.carryOut("disk full", on: kind) { run in
        let disk = try SmallDisk(megabytes: 16)
        run.bot.archiveFolder = disk.path
        try run.start()
        run.send(Faults.size(300, 2_000))
        try run.awaitSent(50)
        try disk.fill()
        try goesOn(run) { disk.empty() }
        try run.finish()
      }
    }

    @Test("read-only: the same", arguments: Faults.oneServer)
    func readOnly(_ kind: Server.Kind) throws {
      if let obstacle = Injection.obstacle {
        return FaultTable.notRun("disk read-only", kind.rawValue, because: obstacle)
      }
      // A disk that is written to can't be made read-only from outside: the calls fail as if it were.
      try FaultRun.carryOut("disk read-only", on: kind) { run in
        try run.start()
        run.send(300)
        try run.awaitSent(50)
        let injection = try Injection(
          into: try pid(of: run), "pwrite64,write,ftruncate", error: "EROFS",
          onFiles: [
            run.bot.archivePath, run.bot.archivePath + "-wal",
          ])
        try goesOn(run) { try injection.end() }
        try run.finish()
      }
    }

    @Test(
      "an fsync fails: the database is closed, the process ends, and the next one has it all",
      arguments: Faults.oneServer)
    func fsync(_ kind: Server.Kind) throws {
      if let obstacle = Injection.obstacle { return FaultTable.notRun("fsync error", kind.rawValue, because: obstacle) }
      try FaultRun.carryOut("fsync error", on: kind) { run in
        try run.start()
        run.send(200)
        try run.awaitSent(50)
        try run.outage {
          let injection = try Injection(into: try pid(of: run), "fsync,fdatasync", error: "EIO")
          let exit = try run.bot.exit()
          run.require(exit == .code(1), "\(exit) after an fsync error: the service manager restarts on exit 1")
          run.require(run.bot.log.contains("archive-error: "), "the log does not say why it ended")
          try injection.end()
          try run.bot.start()
        }
        try run.finish()
      }
    }

    /// The archive can't be written until `mend`, and the bot goes on in the same process.
    private func goesOn(_ run: FaultRun, _ mend: () throws -> Void) throws {
      let pid = try pid(of: run)
      try run.bot.logged("archive-error: ")
      let status = try run.bot.control("status")
      run.require(status.output.contains("archive"), "status does not tell: \(status.output)")
      // Messages go on coming that can't be archived.
      try run.awaitSent(100)
      try mend()
      try run.bot.logged("archive-recovered: ", within: .seconds(90))
      run.require(run.bot.program?.pid == pid && run.bot.program?.isRunning == true, "it did not stay up")
    }

    private func pid(of run: FaultRun) throws -> pid_t { try #require(run.bot.program?.pid) }
  }
}
