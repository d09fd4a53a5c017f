import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("When the server or the line fails")
  struct FaultTests {
    @Test("an answer that was ready while the server was away is delivered later", arguments: Server.Kind.allCases)
    func queued(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let gate = bot.scratch.file("gate")
      mkfifo(gate, 0o600)
      try bot.addCommand("wait", "# allow: everyone\nread -r word <\(gate)\necho \"$word\"")
      try bot.startOnline()
      let account = try server.account("alice")
      do {
        let alice = try bot.peer(on: server, account: account)
        alice.send("wait")
        _ = try alice.event("message") { $0["chatstate"] == "composing" }
        try server.stop()
        defer { try? server.start() }
        try bot.logged("disconnected")
        try bot.scratch.write("worth waiting for\n", to: "gate")
        try bot.logged("command wait ran")
      }
      let alice = try bot.peer(on: server, account: account)
      #expect(try alice.message(within: .seconds(60)) == "worth waiting for")
      #expect(try alice.ask("ping") == "pong", "and only once: nothing else comes before the next answer")
      #expect(
        try bot.rows("SELECT state FROM message WHERE body = 'worth waiting for'").map { $0["state"] } == ["sent"])
    }

    @Test("threads and descriptors stay as few as they were over many connections")
    func leaks() throws {
      let server = try Server.shared(.prosody)
      let relay = try Relay(to: server)
      let bot = try Bot(on: server)
      bot.set("port", relay.port)
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      #expect(try alice.ask("ping") == "pong")
      let pid = try #require(bot.program?.pid)
      let before = try entries(of: "/proc/\(pid)/fd")
      for _ in 0..<3 {
        relay.reset()
        try bot.awaitOnline()
      }
      for round in 0..<20 {
        bot.set("host", round % 2 == 0 ? "localhost" : server.host)
        try bot.writeConfiguration()
        bot.signal(SIGHUP)
        try bot.awaitOnline()
      }
      #expect(try alice.ask("ping") == "pong")
      let after = try entries(of: "/proc/\(pid)/fd")
      #expect(after.count <= before.count + 1, "before: \(before), after: \(after)")
      #expect(try entries(of: "/proc/\(pid)/task").count <= 3)
    }

    private func entries(of folder: String) throws -> [String] {
      try Program.run(["/bin/ls", folder]).split(separator: "\n").map(String.init)
    }
  }
}
