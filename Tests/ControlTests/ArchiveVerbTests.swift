import Archive
import Glibc
import SQLite
import Testing

@Suite("xmppbotctl and the archive of a daemon that does not run")
struct ArchiveVerbTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try scratch.configure()
  }

  private func control(_ line: String) throws -> Tool.Outcome {
    try Tool.shell("exec $xmppbotctl --config \(scratch.file("bot.conf")) \(line)")
  }

  private func fill(_ rows: [NewMessage]) throws {
    let archive = try Archive.open(path: scratch.file("archive.db")) { $0() }
    archive.write { transaction throws(DatabaseError) in
      for row in rows { try transaction.insert(row) }
    } completion: { result in
      if case .failure(let error) = result { Issue.record(error) }
    }
    archive.close()
  }

  private func message(_ body: String, _ direction: NewMessage.Direction = .in, second: Int64 = 0) -> NewMessage {
    NewMessage(direction, .chat, peer: "alice@example.org", time: (1_700_000_000 + second) * 1_000_000, body: body)
  }

  @Test("search, export in three formats, and statistics")
  func reading() throws {
    try fill([message("Grüße, \"Welt\"\n\u{1B}[31m"), message("hello", .out, second: 1)])
    let found = try control("archive search grusse welt")
    #expect(
      found.lines == ["2023-11-14 22:13:20 alice@example.org -> Grüße, \"Welt\"⏎\\u{1b}[31m"])
    #expect(found.code == 0)
    #expect(try control("archive search nothing").output.isEmpty)
    let csv = try control("archive export --format csv")
    #expect(
      csv.output
        == "id,time,direction,kind,state,peer,resource,room,nick,subject,body\r\n"
        + "1,2023-11-14T22:13:20.000000Z,in,chat,received,alice@example.org,,,,,\"Grüße, \"\"Welt\"\"\n\u{1B}[31m\"\r\n"
        + "2,2023-11-14T22:13:21.000000Z,out,chat,queued,alice@example.org,,,,,hello\r\n")
    #expect(
      try control("archive export --format txt --since 2023-11-14T22:13:21").lines
        == ["2023-11-14 22:13:21 alice@example.org <- [queued] hello"])
    let json = try control("archive export --limit 1")
    #expect(json.lines.count == 1 && json.output.contains(#""body":"Grüße, \"Welt\"\n\u001b[31m""#))
    let statistics = try control("archive stats")
    #expect(statistics.lines.first?.hasPrefix("2 messages, ") == true && statistics.lines.count == 4)
    #expect(try control("archive stats --json").output.contains(#""messages":2"#))
  }

  @Test("an empty export in CSV has its header all the same")
  func empty() throws {
    try fill([])
    let outcome = try control("archive export --format csv")
    #expect(outcome.code == 0 && outcome.lines.count == 1)
  }

  @Test("an archive that is not there, is none, or may not be read")
  func unreadable() throws {
    #expect(try control("archive stats").code == 78)
    try scratch.write("this is no database, but long enough to look like one", to: "archive.db")
    let none = try control("archive stats")
    #expect(none.code != 0 && none.errors.contains("archive.db"))
  }

  @Test("who may not read the archive is told so: exit code 5", .enabled(if: geteuid() == 0))
  func notAllowed() throws {
    try fill([])
    chmod(scratch.path, 0o755)
    let outcome = try Tool.shell(
      "cp $xmppbotctl \(scratch.path)/tool; cd /; setpriv --reuid=65534 --regid=65534 --clear-groups "
        + "\(scratch.path)/tool --config \(scratch.file("bot.conf")) archive stats; code=$?; rm \(scratch.path)/tool; exit $code"
    )
    #expect(outcome.code == 5 && outcome.errors.contains("you may not read the archive"), "\(outcome)")
  }

  @Test("check --offline tells each step")
  func check() throws {
    let before = try control("check --offline")
    #expect(before.code == 0)
    #expect(
      before.lines.map { $0.prefix(16) }
        == ["ok  configuratio", "!!  group admins", "ok  password    ", "ok  archive     "])
    try fill([message("x")])
    #expect(
      try control("check --offline").lines.last == "ok  archive           \(scratch.file("archive.db")), 1 messages")
  }

  @Test("a server that can't be reached fails the check, in words")
  func unreachable() throws {
    let outcome = try control("check")
    #expect(outcome.code == 1 && outcome.lines.count == 4)
    #expect(outcome.errors.contains("127.0.0.1"))
  }

  @Test("a daemon started without standard descriptors has /dev/null in their place", .enabled(if: geteuid() == 0))
  func descriptors() throws {
    let outcome = try Tool.shell(
      """
      $xmppbotd --config \(scratch.file("bot.conf")) <&- >&- 2>&- &
      until [ -S \(scratch.file("control.sock")) ]; do kill -0 $! || exit 9; done
      readlink /proc/$!/fd/0 /proc/$!/fd/1 /proc/$!/fd/2
      kill $!
      wait $!
      """)
    #expect(outcome.lines == ["/dev/null", "/dev/null", "/dev/null"])
    #expect(outcome.code == 0)
  }

  @Test("a second daemon is one clear line and exit code 1")
  func secondDaemon() throws {
    let outcome = try Tool.shell(
      """
      $xmppbotd --config \(scratch.file("bot.conf")) 2>/dev/null &
      until [ -S \(scratch.file("control.sock")) ]; do kill -0 $! || exit 9; done
      $xmppbotd --config \(scratch.file("bot.conf"))
      echo "exit $?"
      kill $!
      wait $!
      """)
    #expect(outcome.lines == ["exit 1"])
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(outcome.errors.contains("another process has the archive open for writing; end it first"))
    #expect(outcome.code == 0)
  }
}
