import Testing

@Suite("xmppbotctl: its command line")
struct ProgramTests {
  @Test("without a verb, or with an unknown one, it says which there are; exit code 2")
  func unknownVerb() throws {
    let none = try Tool.control()
    #expect(none.code == 2 && none.output.isEmpty)
    #expect(none.errors.hasPrefix("xmppbotctl: name a verb: check, register, status, send"))
    let slip = try Tool.control("statsu")
    #expect(slip.code == 2 && slip.errors == "xmppbotctl: unknown verb 'statsu': did you mean 'status'?\n")
    let half = try Tool.control("archive")
    #expect(half.code == 2)
    #expect(
      half.errors.hasPrefix(
        "xmppbotctl: 'archive' needs one more word: archive search, archive export, archive stats, archive check"))
  }

  @Test(
    "a mistake in an option is answered with the nearest valid one",
    arguments: [
      (["status", "--jsno"], "unknown option --jsno: did you mean --json?"),
      (["send", "a@b", "--line"], "unknown option --line: did you mean --lines?"),
      (["archive", "export", "--fromat", "csv"], "unknown option --fromat: did you mean --format?"),
      (["archive", "export", "--format", "cvs"], "'cvs' is no format: did you mean csv?"),
      (["archive", "export", "--limit"], "--limit needs a value: --limit N"),
      (["archive", "export", "--limit", "0"], "--limit 0: write a number above 0"),
      (
        ["archive", "export", "--since", "soon"],
        "--since soon: write 2026-01-31, 2026-01-31T17:05, or how long ago: 2h, 7d"
      ),
      (["archive", "export", "all"], "'archive export' takes no 'all'"),
      (["status", "--json=yes"], "--json takes no value"),
      (["status", "now"], "'status' takes no 'now'"),
      (["archive", "search", "*"], "nothing to search for: give at least one word with a letter or a digit"),
      (["send"], "name a recipient: xmppbotctl send JID TEXT"),
      (["log-level"], "name one level: error, warning, info, debug, trace"),
    ])
  func slip(arguments: [String], complaint: String) throws {
    let outcome = try Tool.shell("exec $xmppbotctl " + arguments.map { "'\($0)'" }.joined(separator: " "))
    #expect(outcome.code == 2)
    #expect(outcome.errors == "xmppbotctl: \(complaint)\n")
  }

  @Test(
    "each verb has a help of its own, wherever --help stands",
    arguments: [
      "check", "register", "status", "send", "roster", "commands", "archive search", "archive export", "archive stats",
      "reload", "log-level",
    ])
  func help(verb: String) throws {
    let after = try Tool.shell("$xmppbotctl \(verb) --help")
    #expect(after.code == 0 && after.errors.isEmpty)
    #expect(after.output.hasPrefix("usage: xmppbotctl \(verb)"))
    #expect(after.output.contains("--config FILE"))
    #expect(try Tool.shell("$xmppbotctl --help \(verb)").output == after.output || verb.contains(" "))
  }

  @Test("the overview names every verb, and every exit code")
  func overview() throws {
    let outcome = try Tool.control("--help")
    #expect(outcome.code == 0)
    for word in ["check", "archive export", "log-level", "78 configuration"] { #expect(outcome.output.contains(word)) }
    #expect(try Tool.control("--version").lines.first?.hasPrefix("xmppbotctl ") == true)
  }

  @Test("output that can't be written is a failure; a reader that has seen enough is none of its business")
  func output() throws {
    let full = try Tool.shell("exec $xmppbotctl --help > /dev/full")
    #expect(full.code == 1 && full.errors == "xmppbotctl: the output could not be written: No space left on device\n")
    let piped = try Tool.shell("$xmppbotctl --help | head -n 1")
    #expect(piped.code == 0 && piped.errors.isEmpty && piped.lines.count == 1)
  }

  @Test("without a daemon: exit code 3, and how to start it")
  func notRunning() throws {
    let scratch = try Scratch()
    let configuration = try scratch.configure()
    for verb in ["status", "roster", "commands", "reload", "log-level info", "send a@example.org hello"] {
      let outcome = try Tool.shell("$xmppbotctl --config \(configuration) \(verb)")
      #expect(outcome.code == 3)
      #expect(
        outcome.errors == "xmppbotctl: xmppbotd is not running; start it with: xmppbotd --config \(configuration)\n")
    }
  }

  @Test("a configuration that is wrong, or not there: exit code 78, and each mistake a line")
  func configuration() throws {
    let scratch = try Scratch()
    let configuration = try scratch.configure("[limits]\nrate = much\ntimeot = 5s")
    let wrong = try Tool.control("--config", configuration, "check", "--offline")
    #expect(wrong.code == 78)
    #expect(wrong.errors.split(separator: "\n").count == 2)
    let missing = try Tool.control("--config", scratch.file("none.conf"), "archive", "stats")
    #expect(missing.code == 78 && missing.errors.contains("none.conf"))
  }
}
