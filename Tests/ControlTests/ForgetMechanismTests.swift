import Archive
import Glibc
import JSON
import SQLite
import Testing

@Suite("xmppbotctl forget-mechanism")
struct ForgetMechanismTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try scratch.configure()
  }

  private func control(_ line: String) throws -> Tool.Outcome {
    try Tool.shell("exec $xmppbotctl --config \(scratch.file("bot.conf")) \(line)")
  }

  /// What an earlier run has left.
  private func remember(_ mechanism: String) throws {
    let archive = try Archive.open(path: scratch.file("archive.db")) { $0() }
    archive.write { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      try transaction.setMeta(.saslFloor, to: mechanism)
      try transaction.insert(NewMessage(.in, .chat, peer: "a@example.org", time: 1, body: "stays"))
    } completion: { result in
      if case .failure(let error) = result { Issue.record(error) }
    }
    archive.close()
  }

  @Test("with the bot stopped it says what it forgot; the rest stays, and the second time there is nothing")
  func stopped() throws {
    try remember("SCRAM-SHA-256-PLUS tls-exporter")
    let first = try control("forget-mechanism")
    #expect(first.output == "forgotten: SCRAM-SHA-256-PLUS tls-exporter; the next login may be weaker\n")
    #expect(first.code == 0 && first.errors.isEmpty)
    #expect(try control("forget-mechanism").output == "no login is remembered\n")
    #expect(try JSON(parsing: control("forget-mechanism --json").output) == ["mechanism": nil])
    #expect(try control("archive stats").output.contains("1 message"))
  }

  @Test("the running bot is asked, and it is in the archive at once")
  func running() throws {
    defer { unlink(scratch.file("log")) }
    try remember("SCRAM-SHA-1")
    let outcome = try Tool.shell(
      """
      ctl() { $xmppbotctl --config \(scratch.file("bot.conf")) "$@"; }
      $xmppbotd --config \(scratch.file("bot.conf")) 2>\(scratch.file("log")) &
      until [ -S \(scratch.file("control.sock")) ]; do kill -0 $! || exit 9; done
      ctl forget-mechanism --json
      kill -KILL $!; wait $!
      grep -o 'mechanism-forgotten: .*' \(scratch.file("log"))
      ctl forget-mechanism
      """)
    #expect(outcome.lines.first == #"{"mechanism":"SCRAM-SHA-1"}"#)
    #expect(outcome.lines.last == "no login is remembered")
    #expect(
      outcome.lines.contains { $0.hasPrefix("mechanism-forgotten: ") && $0.contains("SCRAM-SHA-1") }, "\(outcome)")
  }

  @Test("no archive, and words that it does not take, are said")
  func mistakes() throws {
    #expect(try control("forget-mechanism").code != 0)
    #expect(try control("forget-mechanism all").code == 2)
  }
}
