import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("Files")
  struct UploadTests {
    /// What lies behind a link, as a client fetches it.
    private func fetch(_ link: String, from server: Server) throws -> [UInt8] {
      let scratch = try Scratch()
      try Program.run([
        "/usr/bin/curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--cacert", server.authority,
        "--output",
        scratch.file("fetched"), link,
      ])
      return Array(contents(of: scratch.file("fetched")).utf8)
    }

    /// The link in the next message, which has to be marked as one (XEP-0066).
    private func link(_ peer: Peer) throws -> String {
      let event = try peer.event("message") { $0["body"]?.stringValue?.hasPrefix("https://") == true }
      let body = event["body"]?.stringValue ?? ""
      #expect(event["xml"]?.stringValue?.contains("jabber:x:oob") == true, "\(event)")
      return body
    }

    @Test("output = file comes as a link to the very bytes", arguments: Server.Kind.allCases)
    func outputAsFile(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      try bot.addCommand("draw", "# output: file\n# allow: everyone\nprintf 'a drawing, %s\\n' \"$1\"")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.send("draw 日本")
      let link = try link(alice)
      #expect(link.hasSuffix("draw.txt"))
      #expect(try fetch(link, from: server) == Array("a drawing, 日本\n".utf8))
      let rows = try bot.rows("SELECT outcome, (SELECT count(*) FROM message) AS messages FROM command")
      #expect(rows == [["outcome": "done", "messages": 2]])
      #expect(try bot.stop() == .code(0))
    }

    @Test("what takes more than ten messages comes as a file", arguments: Server.Kind.allCases)
    func longOutput(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server, sections: "[limits]\noutput = 1M")
      try bot.addCommand("count", "# output: code\n# allow: everyone\nseq 1 40000")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.send("count")
      let text = try fetch(try link(alice), from: server)
      #expect(text == Array((1...40_000).map { "\($0)\n" }.joined().utf8))
    }

    @Test("xmppbotctl send --file uploads, and waits for the server", arguments: Server.Kind.allCases)
    func sendFile(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      try bot.scratch.write("numbers\n", to: "report 1.txt")
      let outcome = try bot.control("send", "--file", bot.scratch.file("report 1.txt"), alice.account.jid, "Today's:")
      #expect(outcome.exit == .code(0), "\(outcome.output)")
      #expect(try alice.message() == "Today's:")
      #expect(try fetch(try link(alice), from: server) == Array("numbers\n".utf8))
      let missing = try bot.control("send", "--file", bot.scratch.file("nothing"), alice.account.jid)
      #expect(missing.exit == .code(1))
    }

    @Test("a file that is too large is refused with the server's limit, and nothing is sent")
    func tooLarge() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server).startOnline()
      let path = try bot.scratch.write("", to: "large")
      truncate(path, 20 << 20)
      let outcome = try bot.control("send", "--file", path, "nobody@localhost")
      #expect(outcome.exit == .code(1))
      #expect(bot.log.contains("it is too large: the server takes 10 M (10485760 bytes) at most"), "\(bot.log)")
      #expect(try bot.rows("SELECT count(*) AS rows FROM message") == [["rows": 0]])
    }

    @Test("a server whose certificate for files is not trusted gets none, and the contact the text")
    func untrusted() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      // The pin makes the account's server acceptable, and only that.
      let pin = try Program.run([
        "/bin/sh", "-c",
        "openssl x509 -in '\(server.certificate)' -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64",
      ])
      bot.set("ca-file", nil)
      bot.set("public-key-pin", "sha256:" + pin.filter { !$0.isWhitespace })
      try bot.addCommand("draw", "# output: file\n# allow: everyone\necho a drawing")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.send("draw")
      let answer = try alice.message()
      #expect(answer.hasPrefix("a drawing\n"))
      #expect(answer.contains("could not be sent, the log says why"))
      #expect(bot.log.contains("certificate is not to be trusted"))
    }

    @Test("live = yes shows what a program prints by correcting one message")
    func live() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      // It goes on only once the contact has seen how far it is.
      try bot.addCommand(
        "build",
        "# live: yes\n# output: code\n# allow: everyone\necho one; while [ ! -e \"$HOME/go\" ]; do sleep 0.1; done; echo two"
      )
      try bot.startOnline(environment: ["HOME": bot.scratch.path])
      let alice = try bot.peer(on: server)
      alice.send("build")
      let first = try alice.event("message") { $0["body"]?.stringValue == "```\none\n```" }
      try bot.scratch.write("", to: "go")
      let last = try alice.event("message") { $0["body"]?.stringValue == "```\none\ntwo\n```" }
      let id = first["id"]?.stringValue ?? "none"
      #expect(last["xml"]?.stringValue?.contains("urn:xmpp:message-correct:0") == true)
      #expect(last["xml"]?.stringValue?.contains("id=\"\(id)\"") == true, "\(last)")
    }
  }
}
