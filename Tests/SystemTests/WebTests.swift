import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("HTTP and notices, as other programs use them")
  struct WebTests {
    private static let token = "3f9c1b6e2a8d4057b1c2d3e4f5061728"
    private static let bearer = "Authorization: Bearer " + token

    /// A bot with a webhook that may send to `contact`. `hook`: further lines of its section.
    private func bot(on server: Server, for contact: Account, _ hook: String = "") throws -> Bot {
      let bot = try Bot(on: server)
      try bot.scratch.write(Self.token + "\n", to: "token", mode: 0o600)
      bot.sections = """
        [http]
        listen = unix:\(bot.scratch.file("http.sock"))
        [webhook hook]
        token-file = \(bot.scratch.file("token"))
        to = \(contact.jid)
        \(hook)
        """
      return bot
    }

    /// What curl is answered.
    private func curl(_ bot: Bot, _ path: String, _ arguments: String...) throws -> (status: String, body: String) {
      let file = bot.scratch.file("answer.\(Counter.next())")
      let status = try Program.run(
        [
          "/usr/bin/curl", "-sS", "--max-time", "20", "-o", file, "-w", "%{http_code}", "--unix-socket",
          bot.scratch.file("http.sock"),
        ] + arguments + ["http://bot\(path)"])
      return (status, contents(of: file))
    }

    @Test("metrics over a port are what Prometheus's own reader takes, and what xmppbotctl prints")
    func metrics() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      let port = try freePort()
      bot.sections = "[http]\nlisten = 127.0.0.1:\(port)\n"
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      #expect(try alice.ask("ping") == "pong")
      let scraped = try Program.run(["/usr/bin/curl", "-sSf", "--max-time", "20", "http://127.0.0.1:\(port)/metrics"])
      let printed = try bot.control("metrics")
      #expect(printed.exit == .code(0))
      for text in [scraped, printed.output] {
        #expect(text.hasSuffix("# EOF\n"))
        let read = try Program.run(["/usr/bin/python3", "-c", Self.readMetrics], input: String(text.dropLast()))
        #expect(read.contains("xmppbotd_online 1\n"))
        #expect(read.contains("xmppbotd_commands_total command=ping result=done 1\n"))
        #expect(read.contains("xmppbotd_build_info version="))
      }
      let health = try Program.run(["/usr/bin/curl", "-sSf", "--max-time", "20", "http://127.0.0.1:\(port)/healthz"])
      #expect(health == "{\"state\":\"online\"}\n")
    }

    /// Prints each sample as Prometheus's reader for OpenMetrics understands it.
    private static let readMetrics = """
      import sys
      from prometheus_client.openmetrics.parser import text_string_to_metric_families
      for family in text_string_to_metric_families(sys.stdin.read()):
          assert family.documentation, family.name
          for sample in family.samples:
              print(sample.name, *("%s=%s" % pair for pair in sorted(sample.labels.items())), sample.value)
      """

    @Test("what a webhook is sent arrives at its contact; without the token, or too much of it, nothing does")
    func webhook() throws {
      let server = try Server.shared(.prosody)
      let alice = try server.account("alice")
      let bot = try bot(on: server, for: alice)
      try bot.startOnline()
      let peer = try bot.peer(on: server, account: alice)
      let check = try bot.control("check", "--offline")
      #expect(
        check.exit == .code(0) && check.output.contains("unix:\(bot.scratch.file("http.sock")), 1 webhook\n"),
        "\(check)")
      let text = "Content-Type: text/plain"
      let taken = try curl(bot, "/hook/hook", "-H", Self.bearer, "-H", text, "--data-binary", "first\nsecond <line> ü")
      #expect(taken.status == "202" && taken.body.contains(#""state":"queued""#), "\(taken)")
      #expect(try peer.message() == "first\nsecond <line> ü")
      let wrong = try curl(bot, "/hook/hook", "-H", "Authorization: Bearer wrong", "-H", text, "-d", "no")
      #expect(wrong.status == "401" && wrong.body.contains("remedy"))
      let other = try curl(bot, "/hook/hook?to=eve@\(server.domain)", "-H", Self.bearer, "-H", text, "-d", "no")
      #expect(other.status == "403" && other.body.contains(alice.jid))
      let big = try bot.scratch.write(String(repeating: "x", count: 400_000), to: "big")
      let large = try curl(bot, "/hook/hook", "-H", Self.bearer, "-H", text, "--data-binary", "@\(big)")
      #expect(large.status == "413", "\(large)")
      #expect(try curl(bot, "/hook/hook", "-H", Self.bearer, "-d", "a form").status == "415")
      #expect(try curl(bot, "/nothing").status == "404")
      #expect(try peer.ask("ping") == "pong", "and nothing before it")
      #expect(try bot.rows("SELECT body FROM message WHERE direction = 'out' AND body LIKE '%no%'").isEmpty)
      #expect(!bot.log.contains(Self.token))
    }

    @Test("GitHub's way: signed, with the event in a field")
    func signed() throws {
      let server = try Server.shared(.prosody)
      let alice = try server.account("alice")
      let bot = try bot(on: server, for: alice, "template = github")
      try bot.startOnline()
      let peer = try bot.peer(on: server, account: alice)
      let body = #"{"zen":"Design for failure.","repository":{"full_name":"me/project"}}"#
      let digest = try Program.run(["/usr/bin/openssl", "dgst", "-sha256", "-hmac", Self.token], input: body)
      let signature = digest.split(separator: " ").last.map { $0.filter { $0 != "\n" } } ?? ""
      func call(_ signature: String) throws -> String {
        try curl(
          bot, "/hook/hook", "-H", "X-Hub-Signature-256: sha256=\(signature)", "-H", "X-GitHub-Event: ping", "-H",
          "Content-Type: application/json", "--data-binary", body + "\n"
        ).status
      }
      #expect(try call(signature) == "202")
      #expect(try peer.message() == "me/project: the webhook works\nDesign for failure.")
      #expect(try call(String(signature.reversed())) == "401")
    }

    @Test("a call that was answered 202 is not lost when the bot is killed")
    func survives() throws {
      let server = try Server.shared(.prosody)
      let alice = try server.account("alice")
      let bot = try bot(on: server, for: alice)
      bot.set("port", "1")
      try bot.start()
      try bot.logged("ready: HTTP is spoken on")
      #expect(try curl(bot, "/healthz").status == "503")
      #expect(
        try curl(bot, "/hook/hook", "-H", Self.bearer, "-H", "Content-Type: text/plain", "-d", "kept").status == "202")
      bot.signal(SIGKILL)
      _ = try bot.exit()
      let peer = try bot.peer(on: server, account: alice)
      bot.set("port", server.port)
      try bot.startOnline()
      #expect(try peer.message() == "kept")
    }

    @Test("clients that don't go on hold nobody up")
    func slow() throws {
      let server = try Server.shared(.prosody)
      let alice = try server.account("alice")
      let bot = try bot(on: server, for: alice, "rate = unlimited")
      try bot.startOnline()
      let peer = try bot.peer(on: server, account: alice)
      let slow = try (0..<10).map { number in
        let program = try Program(
          [
            "/usr/bin/curl", "-sS", "-N", "-X", "POST", "-T", ".", "--unix-socket", bot.scratch.file("http.sock"), "-H",
            Self.bearer, "-H", "Content-Type: text/plain", "-H", "Expect:", "http://bot/hook/hook",
          ], output: bot.scratch.file("slow.\(number)"))
        program.write("from \(number)")
        return program
      }
      for number in 0..<5 {
        #expect(try peer.ask("ping \(number)") == "pong \(number)")
        #expect(try curl(bot, "/metrics").status == "200")
      }
      for program in slow { program.closeInput() }
      var heard: Set<String> = []
      for _ in slow { heard.insert(try peer.message()) }
      #expect(heard == Set((0..<10).map { "from \($0)" }))
    }

    @Test("a unit's failure is told with its last lines, as xmppbot-notify@.service does it")
    func notice() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      let bin = bot.scratch.file("bin")
      try bot.scratch.write("#!/bin/sh\necho \"lines of $6\"\n", to: "bin/journalctl", mode: 0o755)
      try bot.scratch.write(
        "#!/bin/sh\nexec \(Bot.programs)/xmppbotctl --config \(bot.configuration) \"$@\"\n", to: "bin/xmppbotctl",
        mode: 0o755)
      func notify(_ environment: [String: String]) throws -> Program.Exit {
        let program = try Program(
          ["/bin/sh", "-c", try Self.script(), "xmppbot-notify", "backup.service", "host1"],
          environment: ["PATH": "\(bin):/usr/bin:/bin"].merging(environment) { $1 }, output: bot.scratch.file("notice"))
        program.closeInput()
        return try program.exit()
      }
      #expect(try notify(["XMPPBOT_TO": alice.account.jid, "MONITOR_SERVICE_RESULT": "exit-code"]) == .code(0))
      #expect(
        try alice.message() == "unit backup.service failed on host1 (exit-code)\nlines of --unit=backup.service")
      #expect(try notify(["XMPPBOT_TO": ""]) == .code(78))
    }

    /// What the unit has its shell run, as systemd hands it over (systemd.service(5), "Command lines").
    private static func script() throws -> String {
      let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
      let unit = contents(of: root + "/systemd/xmppbot-notify@.service").replacing("\\\n", with: " ")
      let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
      let quoted = line.split(separator: "'", omittingEmptySubsequences: false)
      #expect(quoted.count == 3 && quoted[0] == "ExecStart=/bin/sh -c " && quoted[2] == " xmppbot-notify %i %H")
      return String(quoted[1]).replacing("$$", with: "$")
    }
  }
}
