import Archive
import Glibc
import SQLite
import Testing

@Suite("xmppbotctl looks after the archive")
struct ArchiveCareTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try scratch.configure()
  }

  private func control(_ line: String) throws -> Tool.Outcome {
    try Tool.shell("exec $xmppbotctl --config \(scratch.file("bot.conf")) \(line)")
  }

  /// Runs `lines` of shell while the daemon runs; `ctl` is xmppbotctl.
  private func whileRunning(_ lines: String) throws -> Tool.Outcome {
    try Tool.shell(
      """
      ctl() { $xmppbotctl --config \(scratch.file("bot.conf")) "$@"; }
      $xmppbotd --config \(scratch.file("bot.conf")) 2>\(scratch.file("log")) &
      until [ -S \(scratch.file("control.sock")) ]; do kill -0 $! || exit 9; done
      \(lines)
      kill $!; wait $!
      """)
  }

  /// Messages of the years 2020 and 2023.
  private func fill() throws {
    let archive = try Archive.open(path: scratch.file("archive.db")) { $0() }
    archive.write { transaction throws(DatabaseError) in
      for (time, count): (Int64, Int) in [(1_600_000_000, 300), (1_700_000_000, 200)] {
        for number in 1...count {
          try transaction.insert(
            NewMessage(.in, .chat, peer: "a@example.org", time: time * 1_000_000, body: "number \(number)"))
        }
      }
    } completion: { result in
      if case .failure(let error) = result { Issue.record(error) }
    }
    archive.close()
  }

  private func damage() throws {
    let file = try #require(fopen(scratch.file("archive.db"), "r+"))
    fseek(file, 20_480, SEEK_SET)
    fputs(String(repeating: "damage", count: 3_000), file)
    fclose(file)
  }

  private func removeDamaged() {
    _ = try? Tool.shell("rm -f \(scratch.file("archive.db.damaged"))* \(scratch.file("log"))")
  }

  @Test("check says that all is well, alike whether the daemon runs or not")
  func check() throws {
    defer { removeDamaged() }
    try fill()
    let without = try control("archive check")
    #expect(without.lines == ["sound: 500 messages, all in the full-text index"] && without.code == 0)
    let with = try whileRunning("ctl archive check; ctl archive check --json")
    #expect(with.lines.first == without.lines.first)
    #expect(with.lines.last?.contains(#""sound":true"#) == true)
  }

  @Test("check of a damaged archive: exit code 1, and the lines that recover it")
  func damaged() throws {
    try fill()
    try damage()
    let found = try control("archive check")
    #expect(found.code == 1 && !found.output.isEmpty)
    #expect(found.errors.contains("sqlite3 \(scratch.file("archive.db")) .recover | sqlite3 recovered.db"))
    #expect(try control("archive check --json").output.contains(#""sound":false"#))
    // What it says, done.
    let recovered = try Tool.shell(
      """
      cd \(scratch.path) && sqlite3 archive.db .recover | sqlite3 recovered.db
      $xmppbotctl --config bot.conf archive check recovered.db; code=$?; rm recovered.db; exit $code
      """)
    #expect(recovered.code == 0 && recovered.output.hasPrefix("sound: "), "\(recovered)")
  }

  @Test("backup: a copy that is checked, with the daemon running and without; an existing file only with --force")
  func backup() throws {
    defer { removeDamaged() }
    try fill()
    let copy = scratch.file("recovered.db")
    let made = try control("archive backup \(copy)")
    #expect(made.code == 0 && made.output.contains("500 messages"))
    let again = try control("archive backup \(copy)")
    #expect(again.code == 1 && again.errors.contains("--force"))
    let live = try whileRunning("ctl archive backup --force --json \(copy)")
    #expect(live.output.contains(#""messages":500"#))
    #expect(try control("archive check \(copy)").code == 0)
    unlink(copy)
    #expect(try control("archive backup").code == 2)
    #expect(try control("archive backup /nonexistent/x.db").code == 1)
  }

  @Test("prune: the daemon's while it runs, else in the file itself")
  func prune() throws {
    defer { removeDamaged() }
    try fill()
    let with = try whileRunning(
      "ctl archive prune --before 2020-09-13; ctl archive prune --before 2021-01-01; ctl archive stats")
    #expect(with.lines.first?.hasPrefix("0 messages deleted; ") == true)
    #expect(with.lines.dropFirst().first?.hasPrefix("300 messages deleted; ") == true)
    #expect(with.lines.contains { $0.hasPrefix("200 messages, ") })
    let without = try control("archive prune --before 90d --json")
    #expect(without.output.contains(#""deleted":200"#) && without.code == 0)
    #expect(try control("archive check").output == "sound: 0 messages, all in the full-text index\n")
  }

  @Test("prune: a mistake deletes nothing")
  func mistakes() throws {
    try fill()
    for line in [
      "archive prune", "archive prune --before", "archive prune --before soon", "archive prune --before 2999-01-01",
      "archive prune 90d",
    ] {
      #expect(try control(line).code == 2, "\(line)")
    }
    let nearest = try control("archive prune --befor 90d")
    #expect(nearest.code == 2 && nearest.errors.contains("did you mean --before?"))
    #expect(try control("archive check").output.hasPrefix("sound: 500 messages"))
  }

  @Test("prune of an archive that another process writes to is refused in words")
  func inUse() throws {
    try fill()
    let archive = try Archive.open(path: scratch.file("archive.db")) { $0() }
    let refused = try control("archive prune --before 90d")
    #expect(refused.code == 1 && refused.errors.contains("another process has the archive open for writing"))
    archive.close()
  }

  @Test("a daemon that finds its archive damaged goes on with a new one, and its status says where the old one is")
  func setAside() throws {
    defer { removeDamaged() }
    try fill()
    try scratch.write(String(repeating: "\0", count: 1), to: "recovered.db")
    let file = try #require(fopen(scratch.file("archive.db"), "r+"))
    fwrite([UInt8](repeating: 0, count: 4_096), 1, 4_096, file)
    fclose(file)
    let status = try whileRunning("ctl status; ctl archive check; cat \(scratch.file("log"))")
    #expect(status.output.contains("set aside     the archive \(scratch.file("archive.db")) is damaged"))
    #expect(status.output.contains("sound: "))
    #expect(status.output.contains("archive-set-aside: "))
    unlink(scratch.file("recovered.db"))
  }
}
