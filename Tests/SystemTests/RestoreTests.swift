import Glibc
import JSON
import Testing

extension SystemTests {
  /// What docs/operating.md and xmppbotd-archive(5) say of a backup that is put in the archive's place.
  @Suite("A backup in the archive's place")
  struct RestoreTests {
    /// The lines of xmppbotd-archive(5) that have an archive begin with what comes now.
    private func linesOfThePage() throws -> String {
      let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
      let lines = contents(of: root + "/docs/man/xmppbotd-archive.5").split(separator: "\n")
      let first = try #require(lines.firstIndex { $0 == "  BEGIN;" })
      let last = try #require(lines[first...].firstIndex { $0 == "  COMMIT\"" })
      return lines[first...last].joined(separator: "\n").filter { $0 != "\"" }
    }

    private func restore(_ backup: String, for bot: Bot) throws {
      for ending in ["", "-wal", "-shm"] { unlink(bot.archivePath + ending) }
      try Program.run(["/bin/cp", backup, bot.archivePath])
    }

    @Test(
      "a command that came after the copy runs again, but not with the lines of the page",
      arguments: Server.Kind.allCases)
    func runsAgain(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let runs = bot.scratch.file("runs")
      try bot.addCommand("count", "# allow: everyone\necho once >>\(runs)\necho counted")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      #expect(try alice.ask("ping before") == "pong before")
      let backup = bot.scratch.file("backup.db")
      #expect(try bot.control("archive", "backup", backup).exit == .code(0))
      #expect(try alice.ask("count") == "counted")
      #expect(try bot.stop() == .code(0))

      try restore(backup, for: bot)
      try bot.startOnline()
      #expect(try alice.message() == "counted", "the server's archive brought it anew")
      #expect(contents(of: runs) == "once\nonce\n")
      #expect(try bot.stop() == .code(0))

      try restore(backup, for: bot)
      try Program.run(["/usr/bin/sqlite3", bot.archivePath, linesOfThePage()])
      try bot.startOnline()
      #expect(try alice.ask("ping after") == "pong after", "nothing came before it")
      #expect(contents(of: runs) == "once\nonce\n")
      #expect(
        try bot.rows("SELECT body FROM message WHERE direction = 'in' AND body <> 'ping before'") == [
          ["body": "ping after"]
        ])
    }
  }
}
