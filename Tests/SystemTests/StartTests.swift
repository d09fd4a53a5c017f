import Glibc
import Testing

extension SystemTests {
  /// What bad input gets: clear lines and exit 78, which the unit does not restart on.
  @Suite("A start that cannot be")
  struct StartTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A configuration in which all is well as long as `lines` say so.
    private func configuration(
      password: String = "password", archive: String = "archive.db", mode: mode_t = 0o600
    ) throws -> String {
      try scratch.write("secret\n", to: "password", mode: mode)
      return """
        [account]
        jid = bot@localhost
        password-file = \(scratch.file(password))
        host = 127.0.0.1
        port = 1
        [archive]
        path = \(scratch.file(archive))
        [control]
        socket = \(scratch.file("control.sock"))
        """
    }

    /// Starts the daemon and waits for its end.
    private func run(_ configuration: String) throws -> (exit: Program.Exit, lines: [String]) {
      try scratch.write(configuration + "\n", to: "bot.conf")
      let program = try Program(
        [Bot.programs + "/xmppbotd", "--config", scratch.file("bot.conf")], output: scratch.file("log"))
      return (try program.exit(), program.output.takeAll())
    }

    @Test("five mistakes are five lines, with file and line number")
    func fiveMistakes() throws {
      let (exit, lines) = try run(
        """
        [account]
        jid = bot@@localhost
        colour = blue
        [acount]
        [keepalive]
        interval = soon
        [log]
        level = loud
        """)
      #expect(exit == .code(78))
      let file = scratch.file("bot.conf")
      for (line, word) in [(2, "jid"), (3, "colour"), (4, "account"), (6, "interval"), (8, "level")] {
        #expect(lines.contains { $0.contains("\(file):\(line): ") && $0.contains(word) }, "line \(line): \(word)")
      }
      #expect(lines.count == 5, "\(lines)")
    }

    @Test("a password file that is missing")
    func passwordMissing() throws {
      let (exit, lines) = try run(configuration(password: "nowhere"))
      #expect(exit == .code(78))
      #expect(
        lines.count == 1 && lines[0].contains(scratch.file("nowhere")) && lines[0].contains("create it"), "\(lines)")
    }

    @Test("no password at all")
    func noPassword() throws {
      let text = try configuration().split(separator: "\n").filter { !$0.contains("password") }.joined(separator: "\n")
      let (exit, lines) = try run(text)
      #expect(exit == .code(78))
      #expect(
        lines.count == 1 && lines[0].contains("there is no password") && lines[0].contains("password-file"), "\(lines)")
    }

    @Test("a password file that others can read")
    func passwordReadable() throws {
      let (exit, lines) = try run(configuration(mode: 0o644))
      #expect(exit == .code(78))
      #expect(lines.count == 1 && lines[0].contains("chmod 600 \(scratch.file("password"))"), "\(lines)")
    }

    @Test("an archive from the future, which is not touched")
    func futureArchive() throws {
      let path = scratch.file("archive.db")
      try Program.run([
        "/usr/bin/sqlite3", path,
        "PRAGMA application_id=\(0x7862_6f74); CREATE TABLE later (x); PRAGMA user_version=9999;",
      ])
      let sum = try Program.run(["/usr/bin/sha256sum", path])
      let (exit, lines) = try run(configuration())
      #expect(exit == .code(78))
      #expect(lines.count == 1 && lines[0].contains(path) && lines[0].contains("9999"), "\(lines)")
      #expect(try Program.run(["/usr/bin/sha256sum", path]) == sum)
    }

    @Test("a file that is no archive of ours, which is not touched")
    func otherDatabase() throws {
      let path = scratch.file("archive.db")
      try Program.run(["/usr/bin/sqlite3", path, "CREATE TABLE message (x)"])
      let sum = try Program.run(["/usr/bin/sha256sum", path])
      let (exit, lines) = try run(configuration())
      #expect(exit == .code(78))
      #expect(lines.count == 1 && lines[0].contains(path), "\(lines)")
      #expect(try Program.run(["/usr/bin/sha256sum", path]) == sum)
    }

    @Test("an archive where no file can be")
    func noFolder() throws {
      // Below a file, where not even root can write.
      let (exit, lines) = try run(configuration(archive: "password/archive.db"))
      #expect(exit == .code(78))
      #expect(lines.count == 1 && lines[0].contains("\(scratch.file("password")): is not a folder"), "\(lines)")
    }

    @Test(
      "a folder that the daemon's user can't write", .enabled(if: geteuid() == 0, "only root can become another user"))
    func forbiddenFolder() throws {
      try scratch.write("", to: "closed/empty")
      let text = try configuration(archive: "closed/archive.db")
      try scratch.write(text + "\n", to: "bot.conf")
      chown(scratch.file("password"), 65_534, 65_534)
      // The programs may lie where only root can look: a copy is where everybody can.
      try Program.run(["/bin/cp", Bot.programs + "/xmppbotd", scratch.file("xmppbotd")])
      chmod(try Scratch.root.get(), 0o711)
      defer { chmod((try? Scratch.root.get()) ?? "", 0o700) }
      let program = try Program(
        [
          "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", scratch.file("xmppbotd"),
          "--config",
          scratch.file("bot.conf"),
        ], output: scratch.file("log"))
      #expect(try program.exit() == .code(78))
      let lines = program.output.takeAll()
      #expect(lines.count == 1 && lines[0].contains(scratch.file("closed")), "\(lines)")
    }

    @Test("a second daemon on the same archive")
    func secondDaemon() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server).startOnline()
      let second = try Program(
        [Bot.programs + "/xmppbotd", "--config", bot.configuration], output: scratch.file("log"))
      #expect(try second.exit() == .code(1), "not for ever: the other may be about to end")
      let lines = second.output.takeAll()
      #expect(lines.count == 1 && lines[0].contains(bot.archivePath), "\(lines)")
      #expect(try bot.peer(on: server).ask("ping") == "pong")
    }
  }
}
