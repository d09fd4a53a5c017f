import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("xmppbotctl")
  struct ControlTests {
    @Test("register makes the account, once; check then finds all well", arguments: Server.Kind.allCases)
    func registers(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let account = Account(name: "new\(Counter.next())", domain: server.domain, password: "a pass & <word>")
      let bot = try Bot(on: server, account: account)
      try bot.writeConfiguration()
      let before = try bot.control("check")
      #expect(before.exit == .code(1), "\(before.output)")
      #expect(before.output.contains("login") && before.output.contains("password"))
      let registered = try bot.control("register")
      #expect(registered.exit == .code(0) && registered.output.contains(account.jid), "\(registered.output)")
      let again = try bot.control("register")
      #expect(again.exit == .code(1) && again.output.contains("exists already"), "\(again.output)")

      let check = try bot.control("check")
      #expect(check.exit == .code(0))
      let steps = check.output.split(separator: "\n").map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
      for step in ["configuration", "password", "archive", "connection", "TLS", "certificate", "login", "server"] {
        #expect(steps.contains("ok \(step)"), "\(check.output)")
      }
      #expect(!check.output.contains(account.password))
      #expect(check.output.hasSuffix("Then add \(account.jid) in your client, and send it: help\n"), "\(check.output)")
      #expect(check.output.contains("!!  group admins"))
      try bot.startOnline()
    }

    @Test("output that nobody reads ends quietly, one that does not fit says why")
    func output() throws {
      let bot = try Bot(on: try Server.shared(.prosody))
      try bot.writeConfiguration()
      func check(_ redirection: String) throws -> String {
        let program = "\(Bot.programs)/xmppbotctl --config \(bot.configuration) check"
        return try Program.run(["/bin/sh", "-c", "{ \(program) \(redirection); } 2>&1; true"])
      }
      #expect(try check(">/dev/full").contains("the output could not be written: No space left on device"))
      #expect(try check("| head -n 1") == "ok  configuration     \(bot.configuration)\n")
    }

    @Test("check says what is wrong at the step where it is")
    func checks() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      bot.set("port", "1")
      try bot.writeConfiguration()
      #expect(try bot.control("check", "--offline").exit == .code(0))
      let unreachable = try bot.control("check")
      #expect(unreachable.exit == .code(1) && unreachable.output.contains("refused"), "\(unreachable.output)")
      bot.set("port", server.port)
      bot.set("ca-file", nil)
      try bot.writeConfiguration()
      let untrusted = try bot.control("check")
      #expect(
        untrusted.exit == .code(1) && untrusted.output.contains("public-key-pin = sha256:"), "\(untrusted.output)")
      bot.set("prot", "5")
      try bot.writeConfiguration()
      let wrong = try bot.control("check")
      #expect(wrong.exit == .code(78) && wrong.output.contains("\(bot.configuration):"), "\(wrong.output)")
      chmod(bot.scratch.file("password"), 0o644)
      bot.set("prot", nil)
      try bot.writeConfiguration()
      let open = try bot.control("check")
      #expect(open.exit == .code(78) && open.output.contains("chmod 600"), "\(open.output)")
    }

    @Test("status tells how it is by words, by JSON and by exit code")
    func status() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      try bot.writeConfiguration()
      #expect(try bot.control("status").exit == .code(3), "not running")
      try bot.startOnline()
      let status = try bot.control("status")
      #expect(status.exit == .code(0) && status.output.contains(bot.account.jid) && status.output.contains("TLSv1."))
      let json = try JSON(parsing: Array(try bot.control("status", "--json").output.utf8))
      #expect(json["state"] == "online" && json["jid"]?.stringValue == bot.account.jid && json["reconnected"] == 0)
      #expect(json["mechanism"]?.stringValue?.hasPrefix("SCRAM") == true)

      do {
        try server.stop()
        defer { try? server.start() }
        try bot.logged("disconnected")
        let offline = try bot.control("status")
        #expect(offline.exit == .code(4) && offline.output.contains("offline"), "\(offline.output)")
        #expect(try bot.control("send", "alice@localhost", "now").exit == .code(4))
      }
      try bot.awaitOnline()
      let back = try JSON(parsing: Array(try bot.control("--json", "status").output.utf8))
      #expect(back["reconnected"] == 1)
    }

    @Test("send sends a text, the input, or each of its lines", arguments: Server.Kind.allCases)
    func sends(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      #expect(try bot.control("send", alice.account.jid, "two", "words").exit == .code(0))
      #expect(try alice.message() == "two words")
      #expect(try bot.control("send", alice.account.jid, "-", input: "first line\n\nthird <line> 日本").exit == .code(0))
      #expect(try alice.message() == "first line\n\nthird <line> 日本")
      #expect(try bot.control("send", alice.account.jid, "--lines", input: "one\ntwo\nthree").exit == .code(0))
      #expect(try (0..<3).map { _ in try alice.message() } == ["one", "two", "three"])
      let wrong = try bot.control("send", "@nobody", "hello")
      #expect(wrong.exit == .code(2) && wrong.output.contains("@nobody"))
      let rows = try bot.rows("SELECT state FROM message WHERE direction = 'out'")
      #expect(rows.map { $0["state"] } == Array(repeating: "sent", count: 5))
    }

    @Test("the archive is read the same while the daemon runs and when it does not")
    func archive() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      let carol = try bot.peer(on: server)
      #expect(try alice.ask("ping 我们明天去北京") == "pong 我们明天去北京")
      #expect(try alice.ask("ping a, \"b\"\u{301}") == "pong a, \"b\"\u{301}")
      #expect(try carol.ask("ping Straße") == "pong Straße")

      let queries = [
        ["archive", "search", "北京"], ["archive", "search", "ping", "--with", carol.account.jid],
        ["archive", "search", "ping", "--limit", "1", "--json"], ["archive", "search", "nowhere"],
        ["archive", "export"], ["archive", "export", "--format", "csv"], ["archive", "export", "--format", "txt"],
        ["archive", "export", "--with", alice.account.jid, "--limit", "2", "--since", "1h"],
        ["archive", "stats", "--json"],
      ]
      let running = try queries.map { try bot.control($0) }
      #expect(running.allSatisfy { $0.exit == .code(0) })
      #expect(running[0].output.contains("ping 我们明天去北京") && running[0].output.contains("pong 我们明天去北京"))
      #expect(running[1].output.split(separator: "\n").count == 1 && running[1].output.contains("Straße"))
      #expect(running[2].output.contains("Straße"), "the newest")
      #expect(running[3].output.isEmpty)
      let exported = try running[4].output.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
      #expect(exported.map { $0["body"] } == (try bot.rows("SELECT body FROM message ORDER BY id").map { $0["body"] }))
      let fields = try Program.run(["/usr/bin/python3", "-c", Self.readCSV], input: running[5].output)
      #expect(fields.contains("7 11\n") && fields.contains("ping a, \"b\"\u{301}\n"), "\(fields)")
      #expect(running[7].output.split(separator: "\n").count == 2)
      let statistics = try JSON(parsing: Array(running[8].output.utf8))
      #expect(statistics["messages"] == 6)

      #expect(try bot.stop() == .code(0))
      let stopped = try queries.map { try bot.control($0) }
      for (index, query) in queries.enumerated() where query.last != "--json" || query[1] == "search" {
        #expect(stopped[index].exit == .code(0))
        // That the server has a message is noted a moment later.
        let before = running[index].output.replacing(#""state":"sent""#, with: #""state":"acked""#)
          .replacing(",out,chat,sent,", with: ",out,chat,acked,")
        #expect(stopped[index].output == before, "\(query)")
      }
      #expect(try bot.control("archive", "search", "--colour").exit == .code(2))
    }

    /// Prints how many lines of how many fields there are, and the last field of each.
    private static let readCSV = """
      import csv, sys
      sys.stdin.reconfigure(newline="")
      rows = list(csv.reader(sys.stdin))
      rows = [row for row in rows if row]
      print(len(rows), len(rows[0]))
      for row in rows: print(row[-1])
      """

    @Test("commands, roster, reload and log-level")
    func operates() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      try bot.addCommand("greet", "# description: Says hello\n# allow: everyone\necho hello")
      try bot.addCommand("unsafe", "echo no")
      chmod(bot.scratch.file("commands.d/unsafe"), 0o777)
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.tell("subscribe \(bot.account.jid)")
      _ = try alice.presence("")
      #expect(try alice.ask("ping") == "pong")

      let commands = try bot.control("commands")
      #expect(commands.exit == .code(0))
      #expect(commands.output.contains("Says hello") && commands.output.contains("everyone"))
      #expect(commands.output.contains("refused: ") && commands.output.contains("chmod go-w"), "\(commands.output)")
      let roster = try bot.control("roster", "--json")
      #expect(roster.output.contains(alice.account.jid) && roster.output.contains("Bot users"))

      #expect(try bot.control("log-level", "debug").exit == .code(0))
      #expect(try alice.ask("ping") == "pong")
      try bot.logged("message-received: ")
      let level = try bot.control("log-level", "loud")
      #expect(level.exit == .code(2) && level.output.contains("warning"))

      bot.sections = "[limits]\nrate = often"
      try bot.writeConfiguration()
      let refused = try bot.control("reload")
      #expect(refused.exit == .code(78) && refused.output.contains("rate"), "\(refused.output)")
      bot.sections = "[command salute]\nexec = /bin/echo Ave\nallow = everyone"
      try bot.writeConfiguration()
      #expect(try bot.control("reload").exit == .code(0))
      #expect(try alice.ask("salute amice") == "Ave amice")
    }

    @Test("a mistake is answered with the nearest verb or option, and exit 2")
    func mistakes() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      try bot.writeConfiguration()
      let verb = try bot.control("stauts")
      #expect(verb.exit == .code(2) && verb.output.contains("status"))
      let option = try bot.control("archive", "export", "--fromat", "csv")
      #expect(option.exit == .code(2) && option.output.contains("--format"))
    }
  }
}
