import Glibc
import JSON
import Testing

@testable import Daemon

@Suite("xmppbotctl and a running daemon")
struct DaemonVerbTests {
  private let scratch: Scratch
  private var socket: String { scratch.file("control.sock") }

  init() throws { scratch = try Scratch() }

  private func control(_ line: String, input: String = "") throws -> Tool.Outcome {
    try Tool.shell("printf '%s' '\(input)' | $xmppbotctl --socket \(socket) \(line)")
  }

  @Test("status is readable, or JSON; online it ends with 0, offline it is printed as well and ends with 4")
  func status() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { _, client in
      client.finish(["jid": "bot@example.org", "state": "online", "online_for": 200, "outbox": 3])
    }
    let online = try control("status")
    #expect(online.code == 0 && online.errors.isEmpty)
    #expect(
      online.lines == [
        "account       bot@example.org", "state         online", "online since  3 min", "outbox        3 waiting",
      ])
    let json = try control("status --json")
    #expect(try JSON(parsing: json.output)["outbox"] == 3)
    await daemon.stop()
    let offline = try await ScriptedDaemon.at(socket) { _, client in
      client.finish(["state": "offline", "reason": "no route"])
    }
    let outcome = try control("status")
    #expect(outcome.code == 4 && outcome.lines == ["state         offline, no route"])
    #expect(outcome.errors == "xmppbotctl: the bot is not online\n")
    await offline.stop()
  }

  @Test("send --file passes the open file itself: the daemon may not be able to open what its caller can")
  func sendFile() async throws {
    let path = try scratch.write("content of the file", to: "bot.conf")
    let daemon = try await ScriptedDaemon.at(socket) { request, client in
      guard let file = client.takeDescriptor() else { return client.fail(.failed, "no file came") }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = max(0, read(file, &bytes, bytes.count))
      close(file)
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      client.fail(
        .failed,
        "\(request["file"]?.stringValue ?? "") '\(text)' \(request["to"]?.stringValue ?? "") \(request["text"]?.stringValue ?? "")"
      )
    }
    #expect(
      try control("send --file \(path) alice@example.org Look:").errors
        == "xmppbotctl: bot.conf 'content of the file' alice@example.org Look:\n")
    for (line, reason) in [
      ("/nonexistent", "/nonexistent: No such file or directory"), ("/etc", "is no regular file"),
      ("/dev/null", "is no regular file"),
      (path + " --lines", "leave --lines out"),
    ] {
      #expect(try control("send alice@example.org --file \(line)").errors.contains(reason))
    }
    await daemon.stop()
  }

  @Test("metrics are printed as they come, to the byte")
  func metrics() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { request, client in
      client.finish(["text": request["verb"] == "metrics" ? "a_total 1\n# EOF\n" : ""])
    }
    let outcome = try control("metrics")
    #expect(outcome.code == 0 && outcome.output == "a_total 1\n# EOF\n" && outcome.errors.isEmpty)
    #expect(try JSON(parsing: control("metrics --json").output)["text"] == "a_total 1\n# EOF\n")
    #expect(try control("metrics all").code == 2)
    await daemon.stop()
  }

  @Test("tables are aligned, safe to look at, and JSON lines with --json")
  func tables() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { request, client in
      if request["verb"] == "roster" {
        client.send(rows: [
          ["jid": "a@example.org", "subscription": "both", "groups": ["x", "y"], "name": "\u{1B}[31mEve\n"],
          ["jid": "longer@example.org", "subscription": "to", "groups": [], "name": nil],
        ])
        return client.finish()
      }
      client.send(rows: [
        [
          "name": "deploy", "allow": ["@admins"], "origin": "[command deploy]", "description": "Deploy",
          "allow_from": "the default",
        ],
        [
          "name": "lock", "allow": ["role:moderator", "roster"], "origin": "[command lock]", "description": "Lock",
          "allow_from": "a.conf:7", "allowed": false, "by": "roster",
        ],
      ])
      client.finish([
        "refused": ["commands.d/x: can be written by others: chmod go-w x"],
        "groups": [["name": "admins", "members": ["*@b.example", "a@example.org"]]],
      ])
    }
    let roster = try control("roster")
    #expect(
      roster.output == """
        ADDRESS             SUBSCRIPTION  GROUPS  NAME
        a@example.org       both          x, y    \\u{1b}[31mEve⏎
        longer@example.org  to                    

        """)
    #expect(try control("roster --json").lines.count == 2)
    let commands = try control("commands")
    #expect(
      commands.code == 0
        && commands.lines.dropFirst() == [
          "deploy   @admins (the default)   [command deploy]          Deploy",
          "lock     role:moderator, roster  [command lock], a.conf:7  Lock",
          "@admins is *@b.example, a@example.org",
        ])
    #expect(commands.errors == "refused: commands.d/x: can be written by others: chmod go-w x\n")
    let rights = try control("commands --for a@example.org")
    #expect(
      rights.lines.dropFirst().dropLast() == [
        "deploy   no          none of @admins  the default", "lock     not here    roster           a.conf:7",
      ])
    #expect(try control("commands --room r@c.example").code == 2)
    await daemon.stop()
  }

  @Test("run shows what the contact would see, and the program's own words apart; its exit code is that of the end")
  func run() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { request, client in
      guard request["command"] == "deploy" else { return client.fail(.timedOut, request.text()) }
      client.send(rows: [["reply": "one\ntwo"], ["log": "careful\u{1B}"], ["edit": "three"], ["other": 1]])
      client.finish()
    }
    let outcome = try control("run deploy web -- --force --from alice@example.net")
    #expect(outcome.code == 2, "behind -- there are no options")
    let done = try control("run --from alice@example.net deploy web")
    #expect(done.code == 0 && done.lines == ["one", "two", "(instead of the last message:)", "three", #"{"other":1}"#])
    #expect(done.errors == "deploy: careful\\u{1b}\n")
    #expect(try control("run deploy --from a@b --json").lines.first == #"{"reply":"one\ntwo"}"#)
    let failed = try control("run other 'a b' --from a@b --room r@c --role moderator -- -x")
    #expect(failed.code == 6)
    #expect(
      failed.errors.contains(#""verb":"run","from":"a@b","room":"r@c","role":"moderator""#)
        && failed.errors.contains(#""arguments":["a b","-x"]"#))
    #expect(try control("run").code == 2)
    await daemon.stop()
  }

  @Test("send sends its words, its input, or each line of it")
  func send() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { request, client in
      if request["text"] == "bad" { return client.fail(.timedOut, "the server does not answer") }
      client.fail(.failed, "\(request["to"]?.stringValue ?? "") <- \(request["text"]?.stringValue ?? "")")
    }
    #expect(try control("send a@b hello there").errors == "xmppbotctl: a@b <- hello there\n")
    #expect(try control("send a@b -- -x").errors == "xmppbotctl: a@b <- -x\n")
    #expect(try control("send a@b -", input: "from input").errors == "xmppbotctl: a@b <- from input\n")
    #expect(try control("send a@b", input: "one\ntwo\n").errors == "xmppbotctl: a@b <- one\nxmppbotctl: two\n")
    #expect(try control("send a@b --lines", input: "\n\nthree\n").errors == "xmppbotctl: line 3: a@b <- three\n")
    #expect(try control("send a@b bad").code == 6)
    #expect(try control("send a@b", input: "").code == 2)
    #expect(try control("send a@b --lines text").code == 2)
    await daemon.stop()
  }

  @Test(
    "each way in which the daemon fails is its own exit code",
    arguments: [
      (ExitCode.failed, Int32(1)), (.usage, 2), (.offline, 4), (.notAllowed, 5), (.timedOut, 6), (.configuration, 78),
    ])
  func codes(code: ExitCode, expected: Int32) async throws {
    let daemon = try await ScriptedDaemon.at(socket) { _, client in client.fail(code, "so\nand so") }
    let outcome = try control("reload")
    #expect(outcome.code == expected && outcome.errors == "xmppbotctl: so\nxmppbotctl: and so\n")
    await daemon.stop()
  }

  @Test("reload names what waits for a restart, and what is not offered")
  func reload() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { _, client in
      client.finish(["refused": ["x: why"], "restart": ["account.jid", "archive.path"]])
    }
    let outcome = try control("reload")
    #expect(outcome.code == 0 && outcome.output.isEmpty)
    #expect(
      outcome.errors
        == "refused: x: why\nin force at the next restart only (systemctl restart xmppbotd): "
        + "account.jid, archive.path\n")
    await daemon.stop()
  }

  @Test("a daemon that ends the conversation, or talks nonsense, is a failure in words")
  func broken() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { _, client in client.close() }
    let outcome = try control("status")
    #expect(outcome.code == 1 && outcome.errors.contains("the daemon ended the conversation"))
    await daemon.stop()
  }

  @Test("an export stops quietly when its reader has seen enough")
  func head() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { _, client in
      client.send(rows: (1...2_000).map { ["id": .int($0), "body": .string(String(repeating: "x", count: 200))] })
      client.finish()
    }
    let outcome = try control("archive export | head -n 2")
    #expect(outcome.errors.isEmpty && outcome.lines.count == 2)
    #expect(outcome.lines.first?.hasPrefix(#"{"id":1,"#) == true)
    await daemon.stop()
  }

  @Test("addresses and times of filters are what the archive has")
  func filters() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { request, client in client.fail(.failed, request.text()) }
    let outcome = try control(
      "archive search Some words --with Alice@Example.ORG/phone --since 2026-01-31 --until 2026-01-31T17:05 --limit 7")
    #expect(
      outcome.errors
        == #"xmppbotctl: {"with":"alice@example.org","since":1769817600000000,"until":1769879100000000,"limit":7,"verb":"archive-search","words":"Some words"}"#
        + "\n")
    #expect(try control("archive export --with nobody@").code == 2)
    await daemon.stop()
  }

  @Test("who may not talk to the daemon is told so: exit code 5", .enabled(if: geteuid() == 0))
  func notAllowed() async throws {
    let daemon = try await ScriptedDaemon.at(socket) { _, client in client.finish() }
    chmod(scratch.path, 0o755)
    let outcome = try Tool.shell(
      "cp $xmppbotctl \(scratch.path)/tool; cd /; setpriv --reuid=65534 --regid=65534 --clear-groups "
        + "\(scratch.path)/tool --socket \(socket) status; code=$?; rm \(scratch.path)/tool; exit $code")
    #expect(outcome.code == 5 && outcome.errors.contains("you may not talk to the daemon"), "\(outcome)")
    await daemon.stop()
  }
}
