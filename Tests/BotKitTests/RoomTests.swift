import JID
import Testing

@testable import BotKit

@Suite("What is said to the bot in a room")
struct RoomAddressTests {
  func said(_ body: String, nick: String = "bot", prefix: String = "!") -> String? {
    RoomAddress(nick: nick, prefix: prefix).speech(in: body).map { "\($0.text)" }
  }

  @Test("begins with the prefix, and what it says follows at once")
  func prefix() {
    #expect(said("!ping 1") == "ping 1")
    #expect(said("! so much") == nil)
    #expect(said("so much !ping") == nil)
    #expect(said(" !ping") == nil)
    #expect(said("!!!") == "!!")
    #expect(said("!") == "")
    #expect(said(".!ping", prefix: ".!") == "ping")
    #expect(said("!ping", prefix: ".!") == nil)
  }

  @Test("a prefix that is a word is followed by white space")
  func word() {
    #expect(said("hey bot ping", nick: "x", prefix: "hey bot") == " ping")
    #expect(said("hey botany", nick: "x", prefix: "hey bot") == nil)
  }

  @Test("without a prefix only the nickname counts")
  func noPrefix() {
    #expect(said("!ping", prefix: "") == nil)
    #expect(said("bot: ping", prefix: "") == " ping")
  }

  @Test("or with the nickname, a colon or a comma, and white space")
  func nick() {
    #expect(said("bot: ping") == " ping")
    #expect(said("bot, ping") == " ping")
    #expect(said("bot:") == "")
    #expect(said("bot:\nping") == "\nping")
    #expect(said("bot:ping") == nil)
    #expect(said("bot ping") == nil)
    #expect(said("bots: ping") == nil)
    #expect(said("hello bot: ping") == nil)
    #expect(said("") == nil)
  }

  @Test("the nickname is compared as addresses are: normalised, and upper and lower case differ")
  func normalised() {
    #expect(said("Bot: ping") == nil)
    #expect(said("Bo\u{308}t: ping", nick: "B\u{f6}t") == " ping")
    #expect(said("my\u{a0}bot: ping", nick: "my bot") == " ping")
  }

  @Test("a nickname may hold the marks itself")
  func marks() {
    #expect(said("a: b: ping", nick: "a: b") == " ping")
    #expect(said("a: ping", nick: "a: b") == nil)
  }

  @Test("what is said by the nickname is meant for this bot, by a prefix perhaps for another")
  func meant() {
    let address = RoomAddress(nick: "bot")
    #expect(address.speech(in: "bot: x")?.isByNick == true)
    #expect(address.speech(in: "!x")?.isByNick == false)
    #expect(RoomAddress(nick: "!bot").speech(in: "!bot: x")?.isByNick == true)
  }

  @Test("a long text without a mark costs no search")
  func long() {
    #expect(said(String(repeating: "ö", count: 100_000) + ": ping", nick: "ö") == nil)
  }
}

@Suite("Commands in a room")
struct RoomCommandTests {
  let room = "ops@rooms.example.org"

  @Test("an unknown command is answered when it is said by the nickname; one by the prefix may be another bot's")
  func unknown() throws {
    var talk = try Conversation()
    #expect(try talk.say("bob@example.org", "!weather", room: room) == "(ignored: no command of this bot)")
    #expect(
      try talk.say("bob@example.org", "bot: pnig", room: room).hasPrefix("I don't know “pnig”. Did you mean ping?"))
  }

  @Test("another bot's commands don't count")
  func uncounted() throws {
    var talk = try Conversation(rate: RateLimit(count: 1, per: .seconds(10)))
    for _ in 0..<5 {
      #expect(try talk.say("bob@example.org", "!weather", room: room).hasPrefix("(ignored: no command"))
    }
    #expect(try talk.say("bob@example.org", "!ping", room: room) == "pong")
  }

  @Test("a nickname that is an administrator's address gives no rights")
  func spoofed() throws {
    var talk = try Conversation()
    let answer = try talk.say(room, "!deploy web", room: room) { $0.nick = "bob@example.org" }
    #expect(answer.hasPrefix("deploy: not allowed."))
  }

  @Test("the rates count occupants, not their nicknames, where the room tells who is who")
  func perOccupant() throws {
    var talk = try Conversation(rate: RateLimit(count: 1, per: .seconds(10)))
    func say(_ nick: String, _ occupant: String?) throws -> String {
      try talk.say(room, "!ping", room: room) {
        $0.nick = nick
        $0.occupantID = occupant
      }
    }
    #expect(try say("bob", "1") == "pong")
    #expect(try say("bob2", "1").hasPrefix("Slow down"))
    #expect(try say("bob3", "1") == "(ignored: over the rate limit)")
    #expect(try say("bob", "2") == "pong")
  }

  @Test("a room that is over its limit is told so once")
  func perRoom() throws {
    var talk = try Conversation()
    talk.router.roomRate = RateLimit(count: 2, per: .seconds(10))
    #expect(try talk.say("a@example.org", "!ping", room: room) == "pong")
    #expect(try talk.say("b@example.org", "!ping", room: room) == "pong")
    #expect(try talk.say("c@example.org", "!ping", room: room).contains("too many commands for one room"))
    #expect(try talk.say("d@example.org", "!ping", room: room) == "(ignored: over the room's rate limit)")
    #expect(try talk.say("d@example.org", "ping") == "pong", "a chat is no room")
  }

  @Test("nobody can use up what administrators may have in a room")
  func adminsInRoom() throws {
    var talk = try Conversation()
    talk.router.roomRate = RateLimit(count: 1, per: .seconds(10))
    try talk.router.access.add([.address(try JID("root@example.org"))], toGroup: "admins")
    #expect(try talk.say("a@example.org", "!ping", room: room) == "pong")
    #expect(try talk.say("b@example.org", "!ping", room: room).contains("too many commands for one room"))
    #expect(try talk.say("root@example.org", "!ping", room: room) == "pong")
    #expect(try talk.say("root@example.org", "!ping", room: room).contains("too many commands for one room"))
  }

  @Test("handlers that listen in rooms hear what is no command, those that listen in chats don't")
  func listeners() throws {
    var talk = try Conversation()
    talk.router.listeners = [Listener(allow: [.everyone])]
    #expect(try talk.say("bob@example.org", "good morning", room: room) == "(ignored: not addressed to the bot)")
    talk.router.listeners = [Listener(allow: [.everyone], places: .room)]
    #expect(try talk.say("bob@example.org", "good morning", room: room) == "(heard)")
    #expect(try talk.say("bob@example.org", "!weather", room: room) == "(heard)")
    #expect(try talk.say("bob@example.org", "bot: how are you?", room: room) == "(heard)")
    #expect(try talk.say("bob@example.org", "!ping", room: room) == "pong")
    #expect(try talk.say("bob@example.org", "good morning").hasPrefix("I don't know"))
  }

  @Test("a handler that answers all it hears does not go on for ever with a bot that does so, too")
  func reflexes() throws {
    var talk = try Conversation(rate: RateLimit(count: 20, per: .seconds(10)))
    talk.router.listeners = [Listener(allow: [.everyone], places: .room)]
    let message = ChatMessage(sender: try JID("bot@example.org"), body: "and you?", room: try JID(room))
    var heard = 0
    for number in 0..<200 {
      guard try talk.say("bot@example.org", "\(number): and you?", room: room) == "(heard)" else { continue }
      heard += 1
      talk.router.replied("\(number): fine", to: message, now: talk.now)
    }
    #expect(heard == LoopGuard.reflexes + 1)
  }

  @Test("a choice is made by prefix and number in the room where it was offered")
  func choice() throws {
    var talk = try Conversation()
    let message = ChatMessage(sender: try JID("bob@example.org"), body: "!deploy", room: try JID(room))
    talk.router.offered(["Shop", "Blog"], asked: "1", by: "deploy", to: message, now: talk.now)
    #expect(try talk.say("bob@example.org", "2", room: room) == "(ignored: not addressed to the bot)")
    #expect(try talk.say("bob@example.org", "!2", room: room) == "(runs deploy: Blog)")
  }

  @Test("a private message through the room needs no prefix, and is a chat")
  func privately() throws {
    var talk = try Conversation()
    let members = CommandDescription(name: "members", allow: [.affiliation(.member)])
    #expect(talk.router.commands.add(Command(members, Nothing(), origin: "test")) == nil)
    func say(_ body: String) throws -> String {
      try talk.say(room, body, room: room) {
        $0.isPrivate = true
        $0.affiliation = .member
      }
    }
    #expect(try say("ping") == "pong")
    #expect(try say("members") == "(runs members: )")
    #expect(try say("deploy web").hasPrefix("deploy: not allowed."))
    #expect(try say("topic x") == "topic works only in a room.")
    #expect(
      try say("whoami")
        == "Through a room you are nobody but nick, affiliation member. Write to me directly, and I know you.")
  }

  @Test("who writes privately is answered once that it is too much, and the room is still told of its own")
  func privateRate() throws {
    var talk = try Conversation()
    talk.router.roomRate = RateLimit(count: 1, per: .seconds(10))
    func whisper(_ nick: String) throws -> String {
      try talk.say(room, "ping", room: room) {
        $0.isPrivate = true
        $0.nick = nick
      }
    }
    #expect(try whisper("a") == "pong")
    #expect(try whisper("b").hasPrefix("Slow down"), "new nicknames help nobody")
    #expect(try talk.say("bob@example.org", "!ping", room: room) == "pong")
  }

  @Test("a command of a room does not run again after a crash: who asked is not known any more")
  func again() throws {
    var talk = try Conversation()
    let description = CommandDescription(name: "restart", allow: [.everyone], places: [.chat, .room], reruns: true)
    #expect(talk.router.commands.add(Command(description, Nothing(), origin: "test")) == nil)
    let message = ChatMessage(sender: try JID(room), body: "!restart", room: try JID(room))
    #expect(talk.router.again(message, command: "restart") == nil)
    #expect(talk.router.again(ChatMessage(sender: try JID(room), body: "restart"), command: "restart") != nil)
  }

  @Test("an answer refers to the room's own id, and to none where there is no such")
  func reference() throws {
    var message = ChatMessage(sender: try JID("bob@example.org"), body: "x", room: try JID(room), messageID: "m1")
    message.originID = "o1"
    #expect(message.referenceID == nil && message.reactionID == nil)
    message.roomID = "r1"
    #expect(message.referenceID == "r1" && message.reactionID == "r1")
    message.isPrivate = true
    #expect(message.referenceID == "o1" && message.reactionID == "m1")
  }
}

@Suite("Administering rooms")
struct RoomAdministrationTests {
  func service() throws -> RoomService {
    var service = RoomService()
    let ops = try JID("ops@rooms.example.org")
    let configured = try JID("hall@rooms.example.org")
    service.list = {
      [
        RoomLine(room: configured, nick: "bot", state: "joined, 3 occupants", isConfigured: true),
        RoomLine(room: ops, nick: "helper", state: "joining", isConfigured: false),
      ]
    }
    service.join = { room, nick, done in
      done(
        room == ops || room == configured
          ? .success(.init(nick: nick ?? "bot", isConfigured: room == configured))
          : .failure(.init("it is for members only")))
    }
    service.leave = { room in
      room == ops || room == configured
        ? .success(.init(nick: "bot", isConfigured: room == configured)) : .failure(.init("I am not in \(room)."))
    }
    service.say = { room, text in room == ops ? nil : .init("I am not in \(room): join it first.") }
    return service
  }

  func told(_ command: some WaitingCommand, _ description: CommandDescription, _ text: String) async throws -> String? {
    let arguments = try Arguments.split(text[...], asText: true)
    return try await run(Command(description, command, origin: "test"), text: text, arguments: arguments).text
  }

  func join(_ text: String) async throws -> String? {
    try await told(JoinRoom(service: service()), JoinRoom.description, text)
  }

  @Test("join says under which nickname, and whether it survives a restart")
  func join() async throws {
    #expect(
      try await join("OPS@rooms.example.org the helper") == """
        I am in ops@rooms.example.org as the helper. I stay until leave ops@rooms.example.org, or until I am restarted; \
        [room ops@rooms.example.org] in my configuration makes it lasting.
        """)
    #expect(
      try await join("hall@rooms.example.org") == """
        I am in hall@rooms.example.org as bot. My configuration names it, so I am there after a restart, too.
        """)
    #expect(try await join("staff@rooms.example.org") == "join: failed (it is for members only)")
    #expect(try await join("") == "Usage: join ROOM [NICK]")
    #expect(
      try await join("rooms.example.org")
        == "join: failed (“rooms.example.org” is no room's address: that is like ops@conference.example.org)")
  }

  @Test("leave says whether the bot comes back by itself")
  func leave() async throws {
    func leave(_ text: String) async throws -> String? {
      try await told(LeaveRoom(service: service()), LeaveRoom.description, text)
    }
    #expect(try await leave("ops@rooms.example.org") == "I have left ops@rooms.example.org.")
    #expect(
      try await leave("hall@rooms.example.org")
        == "I have left hall@rooms.example.org. My configuration names it: a reload or a restart brings me back.")
    #expect(try await leave("x@rooms.example.org") == "leave: failed (I am not in x@rooms.example.org.)")
  }

  @Test("say keeps the text as it was typed")
  func say() async throws {
    let service = try service()
    func say(_ text: String) async throws -> String? { try await told(Say(service: service), Say.description, text) }
    #expect(try await say("ops@rooms.example.org it's  \"me\"") == "Said in ops@rooms.example.org.")
    #expect(try await say("ops@rooms.example.org") == "Usage: say ROOM TEXT…")
    #expect(
      try await say("x@rooms.example.org hello") == "say: failed (I am not in x@rooms.example.org: join it first.)")
  }

  @Test("rooms lists what the bot is in, and what will not survive a restart")
  func rooms() async throws {
    #expect(
      try await told(ListRooms(service: service()), ListRooms.description, "") == """
        hall@rooms.example.org as bot — joined, 3 occupants
        ops@rooms.example.org as helper — joining (until the next restart)
        """)
    #expect(try await told(ListRooms(service: RoomService()), ListRooms.description, "") == "I am in no room.")
  }
}

@Suite("What handlers are told of rooms")
struct RoomEventTests {
  @Test("who enters, with what the room tells of them")
  func joined() throws {
    let room = try JID("ops@rooms.example.org")
    let occupant = RoomOccupant(
      room: room, nick: "alice", address: try JID("alice@example.org/phone"), id: "o1", affiliation: .member,
      role: .participant)
    let event = RoomEvent(.joined, room: room, occupant: occupant, time: 0)
    #expect(
      HandlerEvents.room(event).text()
        == #"{"type":"room","event":"joined","room":"ops@rooms.example.org","self":false,"time":"1970-01-01T00:00:00.000000Z","#
        + #""from":"alice@example.org","nick":"alice","occupant":"o1","affiliation":"member","role":"participant"}"#)
  }

  @Test("the subject with the nickname of who set it, and the bot's own leaving with the reason")
  func others() throws {
    let room = try JID("ops@rooms.example.org")
    var subject = RoomEvent(.subject, room: room, time: 0)
    subject.nick = "alice"
    subject.subject = "Dinner"
    #expect(HandlerEvents.room(subject).text().hasSuffix(#""nick":"alice","subject":"Dinner"}"#))
    var left = RoomEvent(.left, room: room, isOwn: true, time: 0)
    left.reason = "banned"
    #expect(HandlerEvents.room(left).text().contains(#""self":true"#))
    #expect(HandlerEvents.room(left).text().hasSuffix(#""reason":"banned"}"#))
  }

  @Test("an occupant is the same by address, else by occupant-id, else by nickname")
  func same() throws {
    let room = try JID("ops@rooms.example.org")
    func one(_ nick: String, _ address: String? = nil, _ id: String? = nil) throws -> RoomOccupant {
      RoomOccupant(room: room, nick: nick, address: try address.map { text throws(JIDError) in try JID(text) }, id: id)
    }
    #expect(try one("a", "a@example.org").isSame(as: one("b", "a@example.org/x")))
    #expect(try !one("a", "a@example.org").isSame(as: one("a", "b@example.org")))
    #expect(try one("a", nil, "1").isSame(as: one("b", nil, "1")))
    #expect(try !one("a", nil, "1").isSame(as: one("a", nil, "2")))
    #expect(try one("a").isSame(as: one("a")))
    #expect(try !one("a").isSame(as: one("b")))
  }

  @Test("a message of a room has the standing of who said it, one of a chat has not")
  func message() throws {
    var message = ChatMessage(
      sender: try JID("ops@rooms.example.org"), body: "hello", nick: "alice", room: try JID("ops@rooms.example.org"))
    message.affiliation = .owner
    let text = HandlerEvents.message("1", message).text()
    #expect(text.contains(#""affiliation":"owner","role":null,"private":false"#))
    let chat = HandlerEvents.message("1", ChatMessage(sender: try JID("a@example.org"), body: "hello"))
    #expect(!chat.text().contains("private"))
  }
}
