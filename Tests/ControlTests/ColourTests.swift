import JSON
import Testing

@testable import Control
@testable import Daemon

@Suite("Colours are for somebody who looks")
struct ColourTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try scratch.configure()
  }

  private enum Stage { case terminal, pipe }

  /// What xmppbotctl prints. A terminal of its own is made by script(1), which is on every Debian.
  private func shown(
    _ line: String, on stage: Stage = .terminal, environment: String = "TERM=xterm"
  ) throws -> String {
    let words = "$xmppbotctl --config \(scratch.file("bot.conf")) \(line)"
    let run = stage == .pipe ? "\(words) 2>&1 | cat" : "script --quiet --return --command \"\(words)\" /dev/null"
    return try Tool.shell("export \(environment); \(run)").output.replacing("\r\n", with: "\n")
  }

  private func daemon(_ state: JSON) async throws -> ScriptedDaemon {
    try await ScriptedDaemon.at(scratch.file("control.sock")) { request, client in
      guard request["verb"] == "roster" else { return client.finish(["jid": "bot@example.org", "state": state]) }
      client.send(rows: [["jid": "a@b", "subscription": "both", "groups": [], "name": "\u{1B}[31mEve"]])
      client.finish()
    }
  }

  @Test("check: what is well is green, what fails is marked red")
  func check() throws {
    let text = try shown("check --offline")
    #expect(text.hasPrefix("\u{1B}[32mok\u{1B}[0m  configuration     \(scratch.file("bot.conf"))\n"), "\(text)")
    let failed = try shown("status")
    #expect(
      failed == "\u{1B}[31mxmppbotctl:\u{1B}[0m xmppbotd is not running; start it with: xmppbotd --config "
        + scratch.file("bot.conf") + "\n")
  }

  @Test("status: the state alone is coloured, by what it is")
  func status() async throws {
    for (state, colour): (JSON, String) in [("online", "32"), ("connecting", "33"), ("offline", "31")] {
      let daemon = try await daemon(state)
      let text = try shown("status")
      let word = state.stringValue ?? ""
      #expect(
        text.hasPrefix("account       bot@example.org\nstate         \u{1B}[\(colour)m\(word)\u{1B}[0m\n"), "\(text)")
      await daemon.stop()
    }
  }

  @Test("a table has a bold head, which is as wide as without; what strangers wrote colours nothing")
  func table() async throws {
    let daemon = try await daemon("online")
    #expect(
      try shown("roster") == """
        \u{1B}[1mADDRESS  SUBSCRIPTION  GROUPS  NAME\u{1B}[0m
        a@b      both                  \\u{1b}[31mEve

        """)
    await daemon.stop()
  }

  @Test(
    "nothing is coloured in a pipe, with NO_COLOR, on a dumb terminal, or for programs",
    arguments: ["roster", "status", "check --offline", "roster --json", "status --json", "nonsense"])
  func plain(line: String) async throws {
    let daemon = try await daemon("online")
    let inPipe = try shown(line, on: .pipe)
    #expect(!inPipe.isEmpty && !inPipe.contains("\u{1B}"), "\(inPipe)")
    for environment in ["NO_COLOR=1 TERM=xterm", "TERM=dumb"] {
      let text = try shown(line, environment: environment)
      #expect(!text.isEmpty && !text.contains("\u{1B}"), "\(environment): \(text)")
    }
    if line.hasSuffix("--json") { #expect(try !shown(line).contains("\u{1B}")) }
    await daemon.stop()
  }
}
