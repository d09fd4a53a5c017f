import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("Rooms")
  struct RoomTests {
    private static let muc = "http://jabber.org/protocol/muc"

    private static func room(on server: Server) -> String { "ops\(Counter.next())@conference.\(server.domain)" }

    /// A contact who is in the room, under the nickname `alice`; the first one makes and owns it.
    private static func alice(in room: String, on server: Server, _ bot: Bot) throws -> Peer {
      let alice = try bot.peer(on: server)
      alice.tell("raw <presence to='\(room)/alice'><x xmlns='\(muc)'/></presence>")
      _ = try alice.event("presence") { $0["from"]?.stringValue == room + "/alice" && $0["type"] == "" }
      // ejabberd keeps a new room locked until its owner has said how it is to be.
      configure(room, "", alice)
      return alice
    }

    private static func configure(_ room: String, _ fields: String, _ owner: Peer) {
      let type = "<field var='FORM_TYPE'><value>\(muc)#roomconfig</value></field>"
      owner.tell(
        "raw <iq type='set' id='c\(Counter.next())' to='\(room)'><query xmlns='\(muc)#owner'>"
          + "<x xmlns='jabber:x:data' type='submit'>\(fields.isEmpty ? "" : type + fields)</x></query></iq>")
    }

    private static func administer(_ room: String, _ item: String, _ admin: Peer) {
      admin.tell(
        "raw <iq type='set' id='a\(Counter.next())' to='\(room)'><query xmlns='\(muc)#admin'>\(item)</query></iq>")
    }

    private static func say(_ text: String, in room: String, _ peer: Peer) throws {
      peer.tell("raw <message type='groupchat' to='\(room)' id='m\(Counter.next())'><body>\(text)</body></message>")
      try hear(text, from: room + "/alice", peer)
    }

    private static func hear(_ text: String, from: String, _ peer: Peer) throws {
      _ = try peer.event("message") { $0["from"]?.stringValue == from && $0["body"]?.stringValue == text }
    }

    /// Until the archive has so many rows of this kind.
    private static func awaitRows(_ count: Int, _ condition: String, _ bot: Bot) throws {
      let deadline = Deadline(after: .seconds(30))
      while try bot.rows("SELECT id FROM message WHERE \(condition)").count != count {
        guard !deadline.hasPassed else {
          throw Problem("the archive has not \(count) rows with \(condition)\nThe bot: \(bot.log)")
        }
        _ = try bot.control("status")
      }
    }

    @Test(
      "a room is entered; what is said there is archived, what the bot says arrives", arguments: Server.Kind.allCases)
    func conversation(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server, sections: "[room \(room)]\nnick = robot\n").startOnline()
      try bot.logged("room-joined: in \(room) as robot; the room is new")
      let alice = try Self.alice(in: room, on: server, bot)
      try Self.say("hello all", in: room, alice)
      #expect(try bot.control("send", room, "good morning").exit == .code(0))
      try Self.hear("good morning", from: room + "/robot", alice)
      try Self.awaitRows(
        1, "room = '\(room)' AND nick = 'alice' AND body = 'hello all' AND kind = 'groupchat' AND stanza_id_by = room",
        bot)
      try Self.awaitRows(
        1, "room = '\(room)' AND direction = 'out' AND state = 'received' AND stanza_id_by = room", bot)
      try Self.awaitRows(2, "room = '\(room)' AND body IS NOT NULL", bot)
      let found = try bot.control("archive", "search", "--room", room, "--json", "hello")
      #expect(found.exit == .code(0) && found.output.contains("hello all"))
      let rooms = try bot.control("rooms", "--json")
      let row = try JSON(parsing: Array(rooms.output.utf8))
      #expect(row["state"] == "joined" && row["nick"] == "robot" && row["occupants"] == 2)
      #expect(try bot.stop() == .code(0))
      _ = try alice.event("presence") { $0["from"]?.stringValue == room + "/robot" && $0["type"] == "unavailable" }
    }

    @Test("a reload leaves rooms and enters others; the stream stays", arguments: Server.Kind.allCases)
    func reload(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let (kept, left, new) = (Self.room(on: server), Self.room(on: server), Self.room(on: server))
      let bot = try Bot(on: server, sections: "[room \(kept)]\n[room \(left)]\n").startOnline()
      for _ in 0..<2 { try bot.logged("room-joined: in ops") }
      bot.forgetLog()
      bot.sections = "[room \(kept)]\n[room \(new)]\n"
      try bot.writeConfiguration()
      #expect(try bot.control("reload").exit == .code(0))
      try bot.logged("room-joined: in \(new)")
      #expect(bot.log.contains("room-left: left \(left)"))
      let status = try bot.control("status")
      #expect(status.output.contains("2 of 2 joined"))
      let rooms = try bot.control("rooms").output
      #expect(rooms.contains(kept) && rooms.contains(new) && !rooms.contains(left))
      #expect(!bot.log.contains("disconnected:"))
    }

    @Test(
      "what was said while the bot was away is fetched from the room's archive, once", arguments: Server.Kind.allCases)
    func missed(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server, sections: "[room \(room)]\nnick = robot\n").startOnline()
      try bot.logged("room-joined: in \(room)")
      let alice = try Self.alice(in: room, on: server, bot)
      try Self.say("before", in: room, alice)
      try Self.awaitRows(1, "body = 'before'", bot)
      #expect(try bot.stop() == .code(0))
      for number in 1...3 { try Self.say("missed \(number)", in: room, alice) }
      try bot.startOnline()
      try bot.logged("room-joined: in \(room)")
      try Self.awaitRows(3, "room = '\(room)' AND body LIKE 'missed %'", bot)
      try Self.say("after", in: room, alice)
      try Self.awaitRows(1, "body = 'after'", bot)
      let rows = try bot.rows("SELECT body FROM message WHERE room = '\(room)' AND body IS NOT NULL ORDER BY id")
      #expect(
        rows.compactMap { $0["body"]?.stringValue } == ["before", "missed 1", "missed 2", "missed 3", "after"])
    }

    @Test("when the server comes back, so does the bot into its rooms", arguments: Server.Kind.allCases)
    func serverRestart(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server, sections: "[room \(room)]\n").startOnline()
      try bot.logged("room-joined: in \(room)")
      bot.forgetLog()
      try server.restart()
      try bot.logged("room-joined: in \(room)", within: .seconds(90))
    }

    @Test("a room without a section is entered for what is to be said there", arguments: Server.Kind.allCases)
    func visit(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server).startOnline()
      let alice = try Self.alice(in: room, on: server, bot)
      #expect(try bot.control("send", room, "the backup is done").exit == .code(0))
      try Self.hear("the backup is done", from: "\(room)/\(bot.account.name)", alice)
      #expect(try bot.control("rooms", "--json").output.contains("\"visit\""))
    }

    @Test(
      "a bot that is killed and started again takes up its stream: nobody in the room sees it leave, nothing is missed",
      arguments: Server.Kind.allCases)
    func killed(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let (room, old) = (Self.room(on: server), Self.room(on: server))
      let bot = try Bot(on: server)
      let alice = try Self.alice(in: room, on: server, bot)
      bot.sections = "[room \(room)]\nnick = robot\n[room \(old)]\nnick = robot\n"
      try bot.startOnline()
      for _ in 0..<2 { try bot.logged("room-joined: in ops") }
      alice.tell("raw <presence to='\(old)/alice'><x xmlns='\(Self.muc)'/></presence>")
      _ = try alice.event("presence") { $0["from"]?.stringValue == old + "/robot" && $0["type"] == "" }
      try Self.say("before", in: room, alice)
      try Self.awaitRows(1, "body = 'before'", bot)
      bot.signal(SIGKILL)
      _ = try bot.exit()
      try Self.say("meanwhile", in: room, alice)
      // One of the rooms is none of the bot's any more.
      bot.sections = "[room \(room)]\nnick = robot\n"
      try bot.startOnline()
      try bot.logged("room-joined: in \(room)")
      #expect(bot.log.contains("the stream was resumed"))
      _ = try alice.event("presence") { $0["from"]?.stringValue == old + "/robot" && $0["type"] == "unavailable" }
      try Self.say("after", in: room, alice)
      try Self.awaitRows(1, "body = 'after'", bot)
      let rows = try bot.rows("SELECT body FROM message WHERE room = '\(room)' AND body IS NOT NULL ORDER BY id")
      #expect(rows.compactMap { $0["body"]?.stringValue } == ["before", "meanwhile", "after"])
      #expect(
        !alice.events("presence").contains {
          $0["from"]?.stringValue == room + "/robot" && $0["type"] == "unavailable"
        })
    }

    @Test("a webhook speaks in a room, which is entered first", arguments: Server.Kind.allCases)
    func webhook(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server)
      let alice = try Self.alice(in: room, on: server, bot)
      let socket = bot.scratch.file("http.sock")
      try bot.scratch.write("0123456789abcdef\n", to: "token", mode: 0o600)
      bot.sections =
        "[http]\nlisten = unix:\(socket)\n[webhook alerts]\ntoken-file = \(bot.scratch.file("token"))\nto = \(room)\n"
      try bot.startOnline()
      try Program.run([
        "/usr/bin/curl", "--silent", "--fail", "--unix-socket", socket, "--header",
        "Authorization: Bearer 0123456789abcdef", "--header", "Content-Type: text/plain", "--data", "disk full",
        "http://localhost/hook/alerts",
      ])
      try Self.hear("disk full", from: "\(room)/\(bot.account.name)", alice)
    }

    @Test("a password is wanted, told, given and taken", arguments: Server.Kind.allCases)
    func password(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server)
      let alice = try Self.alice(in: room, on: server, bot)
      Self.configure(
        room,
        "<field var='muc#roomconfig_passwordprotectedroom'><value>1</value></field>"
          + "<field var='muc#roomconfig_roomsecret'><value>sesame</value></field>", alice)
      try Self.say("locked", in: room, alice)
      bot.sections = "[room \(room)]\n"
      try bot.startOnline()
      try bot.logged("room-not-joined: not in \(room): it wants a password")
      let refused = try bot.control("send", room, "hi")
      #expect(refused.exit == .code(1))
      #expect(try bot.rows("SELECT id FROM message").isEmpty)
      try bot.scratch.write("sesame\n", to: "ops.password", mode: 0o600)
      bot.sections = "[room \(room)]\npassword-file = \(bot.scratch.file("ops.password"))\n"
      try bot.writeConfiguration()
      #expect(try bot.control("reload").exit == .code(0))
      try bot.logged("room-joined: in \(room)")
    }

    @Test("who is kicked or banned is told so", arguments: Server.Kind.allCases)
    func expelled(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server)
      let alice = try Self.alice(in: room, on: server, bot)
      bot.sections = "[room \(room)]\nnick = robot\n"
      try bot.startOnline()
      try bot.logged("room-joined: in \(room)")
      Self.administer(room, "<item nick='robot' role='none'><reason>too loud</reason></item>", alice)
      let kick = try bot.logged("room-not-joined: not in \(room): the bot was kicked")
      #expect(kick.contains("too loud") && kick.contains("tried again in 60 s"))
      Self.administer(room, "<item affiliation='outcast' jid='\(bot.account.jid)'/>", alice)
      let rooms = try bot.control("rooms")
      #expect(rooms.output.contains("the bot was kicked"))
    }

    @Test("a nickname that is taken is avoided, and taken back when it is free", arguments: Server.Kind.allCases)
    func nickname(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let room = Self.room(on: server)
      let bot = try Bot(on: server)
      let alice = try Self.alice(in: room, on: server, bot)
      bot.sections = "[room \(room)]\nnick = alice\n"
      try bot.startOnline()
      try bot.logged("room-joined: in \(room) as alice_")
      let bob = try bot.peer(on: server)
      bob.tell("raw <presence to='\(room)/bob'><x xmlns='\(Self.muc)'/></presence>")
      _ = try bob.event("presence") { $0["from"]?.stringValue == room + "/bob" }
      try alice.leave()
      try bot.logged("room-joined: in \(room) the bot's nickname is alice now")
    }
  }
}
