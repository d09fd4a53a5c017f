import JSON
import Testing

extension SystemTests {
  @Suite("Rights and courtesies")
  struct RightsTests {
    @Test(
      "a contact's client gets a receipt and sees its command taken up; a stranger's gets only the answer",
      arguments: Server.Kind.allCases)
    func receipts(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      let asks = "<request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>"
      func ping(_ id: String) {
        alice.tell(
          "raw <message type='chat' to='\(bot.account.jid)' id='\(id)'><body>ping \(id)</body>\(asks)</message>")
      }
      ping("stranger")
      // What the bot sends is in order: no receipt came before the answer.
      let first = try next(alice)
      #expect(first["body"] == "pong stranger")
      alice.tell("subscribe \(bot.account.jid)")
      _ = try alice.event("roster") { $0["jid"]?.stringValue == bot.account.jid && $0["subscription"] == "both" }
      ping("contact")
      let received = try next(alice)
      #expect(received["xml"]?.stringValue?.contains("<received") == true && received["body"] == "")
      let displayed = try next(alice)
      #expect(displayed["xml"]?.stringValue?.contains("<displayed") == true && displayed["body"] == "")
      #expect(try alice.message() == "pong contact")
    }

    /// The next message that says something, or that another has come.
    private func next(_ peer: Peer) throws -> JSON {
      try peer.event("message") { event in
        let xml = event["xml"]?.stringValue ?? ""
        return event["body"] != "" || xml.contains("<received") || xml.contains("<displayed")
      }
    }

    @Test("an operator tries a command out, as whom it pleases them, and sees who may use what")
    func trial() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      try bot.addCommand("words", "# allow: *@friends.example\nprintf '%s of %s\\n' \"$*\" \"$XMPPBOT_FROM\"")
      try bot.startOnline()
      let done = try bot.control("run", "words", "a", "b c", "--from", "eve@friends.example/x")
      #expect(done.exit == .code(0) && done.output == "a b c of eve@friends.example\n")
      let denied = try bot.control("run", "words", "--from", "eve@enemies.example")
      #expect(denied.exit == .code(5) && denied.output.contains("it is for *@friends.example"))
      let rights = try bot.control("commands", "--for", "eve@friends.example")
      #expect(rights.output.split(separator: "\n").contains { $0.hasPrefix("words") && $0.contains("yes") })
      #expect(try bot.rows("SELECT id FROM message").isEmpty)
    }
  }
}
