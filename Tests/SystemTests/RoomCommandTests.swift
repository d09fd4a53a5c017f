import JSON
import Testing

extension SystemTests {
  @Suite("Commands in a room")
  struct RoomCommandTests {
    /// Somebody in the room.
    private struct Occupant {
      let peer: Peer
      let room: String
      let nick: String

      /// Enters, and waits until they are in.
      init(_ peer: Peer, _ room: String, as nick: String) throws {
        self.peer = peer
        self.room = room
        self.nick = nick
        peer.tell(
          "raw <presence to='\(room)/\(nick)'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>"
        )
        _ = try peer.event("presence") { $0["from"]?.stringValue == "\(room)/\(nick)" && $0["type"] == "" }
      }

      func say(_ text: String, id: String = "x") {
        peer.tell("raw <message type='groupchat' to='\(room)' id='\(id)'><body>\(Peer.escaped(text))</body></message>")
      }

      func whisper(_ text: String, to other: String) {
        peer.tell(
          "raw <message type='chat' to='\(room)/\(other)' id='w'><body>\(Peer.escaped(text))</body>"
            + "<x xmlns='http://jabber.org/protocol/muc#user'/></message>")
      }

      /// Waits until somebody is there under this nickname.
      func sees(_ other: String) throws {
        _ = try peer.event("presence") { $0["from"]?.stringValue == "\(room)/\(other)" && $0["type"] == "" }
      }

      /// What `other` says next, to all or as `type`.
      func hears(_ other: String, type: String = "groupchat") throws -> JSON {
        try peer.event("message") {
          $0["from"]?.stringValue == "\(room)/\(other)" && $0["type"]?.stringValue == type && $0["body"] != ""
        }
      }

      func says(_ other: String, type: String = "groupchat") throws -> String {
        try hears(other, type: type)["body"]?.stringValue ?? ""
      }
    }

    @Test("are answered to all, judged by what the room tells of who gave them", arguments: Server.Kind.allCases)
    func commands(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = "commands\(Counter.next())@conference.\(server.domain)"
      let owner = try Peer(try server.account("owner"), on: server)
      // The first one makes the room, and is its owner.
      let alice = try Occupant(owner, room, as: "alice")
      owner.tell(
        "raw <iq type='set' id='form' to='\(room)'><query xmlns='http://jabber.org/protocol/muc#owner'>"
          + "<x xmlns='jabber:x:data' type='submit'/></query></iq>")
      let bot = try Bot(on: server, sections: "[room \(room)]\nnick = bot\n")
      try bot.addCommand(
        "where",
        "# allow: everyone\n# where: room\necho \"$XMPPBOT_NICK of $XMPPBOT_ROOM from $XMPPBOT_FROM\"")
      try bot.addCommand("topmost", "# allow: affiliation:owner\n# where: chat, room\necho yes")
      try bot.startOnline()
      try alice.sees("bot")

      alice.say("!ping 1", id: "p1")
      let pong = try alice.hears("bot")
      #expect(pong["body"] == "alice: pong 1")
      #expect(pong["xml"]?.stringValue?.contains("urn:xmpp:reply:0") == true, "it refers to the room's id of it")
      alice.say("bot: ping 2")
      #expect(try alice.says("bot") == "alice: pong 2")
      alice.say("!where")
      #expect(try alice.says("bot").hasPrefix("alice: alice of \(room) from "))
      alice.say("!topmost")
      #expect(try alice.says("bot") == "alice: yes")

      // Another one, whose address is hidden from the bot, and whose nickname is the owner's address.
      let eve = try Occupant(try Peer(try server.account("eve"), on: server), room, as: owner.account.jid)
      eve.say("!topmost")
      #expect(try eve.says("bot").hasPrefix("→ \(owner.account.jid): topmost: not allowed."))
      eve.say("good morning")
      eve.say("!weather")
      eve.say("bot: pnig")
      #expect(try eve.says("bot").contains("I don't know “pnig”"), "what is not for the bot gets no answer")
      eve.whisper("ping", to: "bot")
      #expect(try eve.says("bot", type: "chat") == "pong")

      let rows = try bot.rows("SELECT nick, body FROM message WHERE room = '\(room)' AND body = '!weather'")
      #expect(rows.count == 1 && rows.first?["nick"]?.stringValue == owner.account.jid)
    }

    @Test("what was said before the bot came is not run", arguments: Server.Kind.allCases)
    func history(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = "history\(Counter.next())@conference.\(server.domain)"
      let alice = try Occupant(try Peer(try server.account("owner"), on: server), room, as: "alice")
      alice.peer.tell(
        "raw <iq type='set' id='form' to='\(room)'><query xmlns='http://jabber.org/protocol/muc#owner'>"
          + "<x xmlns='jabber:x:data' type='submit'/></query></iq>")
      alice.say("!ping early")
      _ = try alice.hears("alice")
      let bot = try Bot(on: server, sections: "[room \(room)]\nnick = bot\n").startOnline()
      try alice.sees("bot")
      alice.say("!ping now")
      #expect(try alice.says("bot") == "alice: pong now")
      _ = bot
    }

    @Test("an administrator has the bot join a room, say something, and leave", arguments: Server.Kind.allCases)
    func administration(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = "admin\(Counter.next())@conference.\(server.domain)"
      let admin = try server.account("admin")
      let bot = try Bot(on: server, sections: "[group admins]\nmember = \(admin.jid)\n").startOnline()
      let peer = try bot.peer(on: server, account: admin)
      let alice = try Occupant(peer, room, as: "alice")
      peer.tell(
        "raw <iq type='set' id='form' to='\(room)'><query xmlns='http://jabber.org/protocol/muc#owner'>"
          + "<x xmlns='jabber:x:data' type='submit'/></query></iq>")
      #expect(try peer.ask("join \(room) helper").hasPrefix("I am in \(room) as helper. I stay until leave"))
      #expect(try peer.ask("rooms").hasPrefix("\(room) as helper — joined, 2 there"))
      #expect(try peer.ask("say \(room) dinner is ready") == "Said in \(room).")
      #expect(try alice.says("helper") == "dinner is ready")
      alice.say("!ping")
      #expect(try alice.says("helper") == "alice: pong")
      #expect(try peer.ask("search dinner").contains("in \(room): dinner is ready"))
      #expect(try bot.control("reload").exit == .code(0))
      #expect(try peer.ask("rooms").hasPrefix("\(room) as helper — joined"), "a reload does not throw it out")
      #expect(try peer.ask("leave \(room)") == "I have left \(room).")
      _ = try peer.event("presence") { $0["from"]?.stringValue == "\(room)/helper" && $0["type"] == "unavailable" }
      #expect(try peer.ask("say \(room) again").contains("I am not in \(room)"))
    }
  }
}
