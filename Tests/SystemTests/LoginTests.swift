import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("Logging in")
  struct LoginTests {
    @Test(
      "a wrong password: it stays up, says so, and does not hammer; a right one is taken up",
      arguments: Server.Kind.allCases)
    func wrongPassword(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let manager = try NotifySocket(in: bot.scratch)
      try bot.scratch.write("not this one\n", to: "password", mode: 0o600)
      try bot.start(environment: ["NOTIFY_SOCKET": manager.path])
      let line = try bot.logged("login-failed: ")
      #expect(line.contains("password"))
      let status = try manager.next("STATUS=offline: ")
      #expect(status.contains("password"))
      let seconds = line.split(separator: " next attempt in ").last?.split(separator: " ").first.flatMap { Int($0) }
      #expect(try #require(seconds, "some seconds: \(line)") >= 30)
      #expect(bot.program?.isRunning == true)

      try bot.scratch.write(bot.account.password + "\n", to: "password", mode: 0o600)
      bot.signal(SIGHUP)
      try bot.awaitOnline()
      try manager.next("STATUS=online as ")
      #expect(bot.log.split(separator: "\n").filter { $0.contains("login-failed") }.count == 1)
    }

    @Test("a server that offers less than before is refused until an operator has that forgotten; check says the same")
    func weaker() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server).startOnline()
      _ = try bot.stop()
      // As if the server had once offered this.
      let stronger = "SCRAM-SHA-512-PLUS tls-exporter"
      try Program.run([
        "/usr/bin/sqlite3", bot.archivePath, "UPDATE meta SET value = '\(stronger)' WHERE key = 'sasl_floor'",
      ])
      try bot.start()
      let refusal = try bot.logged("login-failed: ")
      #expect(refusal.contains("less than \(stronger)") && refusal.contains("xmppbotctl forget-mechanism"))
      let check = try bot.control("check")
      #expect(check.exit == .code(1) && check.output.contains("xmppbotctl forget-mechanism"), "\(check.output)")

      let forgotten = try bot.control("forget-mechanism")
      #expect(forgotten.exit == .code(0) && forgotten.output.contains(stronger), "\(forgotten.output)")
      // The next attempt was a minute away.
      try bot.awaitOnline(within: .seconds(20))
      #expect(try bot.control("check").exit == .code(0))
      #expect(try bot.rows("SELECT value FROM meta WHERE key = 'sasl_floor'").first?["value"]?.stringValue != stronger)
      #expect(bot.log.contains("mechanism-forgotten: "))
    }

    @Test("a certificate of an authority that is not ours is refused before the login", arguments: Server.Kind.allCases)
    func wrongAuthority(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let stranger = bot.scratch.file("stranger.pem")
      try Program.run([
        "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "2",
        "-subj", "/CN=a stranger", "-keyout", bot.scratch.file("stranger.key"), "-out", stranger,
      ])
      bot.set("ca-file", stranger)
      try bot.start()
      let line = try bot.logged("tls-refused: ")
      #expect(line.contains("authority") && line.contains("public-key-pin = sha256:"))
      #expect(bot.program?.isRunning == true)
      bot.set("ca-file", server.authority)
      try bot.writeConfiguration()
      bot.signal(SIGHUP)
      try bot.awaitOnline()
    }

    @Test("a certificate for another domain is refused, whatever host was dialled")
    func wrongName() throws {
      // Prosody would end the handshake by itself, since it knows no such name.
      let server = try Server.shared(.ejabberd)
      let bot = try Bot(on: server)
      bot.set("jid", "bot@elsewhere.example")
      bot.set("tls", "direct")
      bot.set("port", server.directPort)
      try bot.start()
      let line = try bot.logged("tls-refused: ")
      #expect(line.contains("not for elsewhere.example but for localhost"), "\(line)")
    }

    @Test("the server's public key may be pinned instead of an authority", arguments: Server.Kind.allCases)
    func pinned(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let digest = try Program.run([
        "/bin/sh", "-c",
        "openssl x509 -in \"$1\" -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -r | cut -c1-64",
        "sh", server.certificate,
      ]).prefix { $0 != "\n" }
      bot.set("ca-file", nil)
      bot.set("public-key-pin", "sha256:\(digest)")
      try bot.startOnline()
      let other = String(digest.reversed())
      bot.set("public-key-pin", "sha256:\(other)")
      try bot.writeConfiguration()
      bot.signal(SIGHUP)
      #expect(try bot.logged("tls-refused: ").contains("public-key-pin"))
    }

    @Test("direct TLS, and SCRAM inside it", arguments: Server.Kind.allCases)
    func directTLS(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      bot.set("tls", "direct")
      bot.set("port", server.directPort)
      try bot.startOnline()
      #expect(try bot.peer(on: server).ask("ping") == "pong")
      let floor = try bot.rows("SELECT value FROM meta WHERE key = 'sasl_floor'").first?["value"]?.stringValue ?? ""
      #expect(floor.contains("SCRAM"), "\(floor)")
    }
  }
}
