import JID
import Testing

@testable import BotKit

@Suite("Conversations")
struct RouterTests {
  @Test("ping answers pong, with whatever follows it, quotes or not, capital or not")
  func ping() throws {
    var talk = try Conversation()
    #expect(try talk.say("alice@example.com", "ping") == "pong")
    #expect(try talk.say("alice@example.com", "Ping") == "pong")
    #expect(try talk.say("alice@example.com", "  PING  it's \"me\"  twice") == "pong it's \"me\"  twice")
    let long = String(repeating: "x", count: 100_000)
    #expect(try talk.say("alice@example.com", "ping \(long)").hasSuffix("xxx\n(cut off at 64 K)"))
  }

  @Test("a misspelt command gets the nearest that its sender may use")
  func suggestion() throws {
    var talk = try Conversation()
    #expect(
      try talk.say("alice@example.com", "pnig") == "I don't know “pnig”. Did you mean ping? Send help for the list.")
    #expect(
      try talk.say("admin@example.org", "rebot") == "I don't know “rebot”. Did you mean reboot? Send help for the list."
    )
    #expect(try talk.say("alice@example.com", "rebot") == "I don't know “rebot”. Send help for what I can do.")
  }

  @Test("a long unknown word is not repeated in full")
  func longWord() throws {
    var talk = try Conversation()
    #expect(try talk.say("alice@example.com", String(repeating: "x", count: 5000)).count < 120)
  }

  @Test("a command that the sender may not use is refused, logged as denied, and unknown to help")
  func denied() throws {
    var talk = try Conversation()
    #expect(try talk.say("alice@example.com", "reboot now").hasPrefix("reboot: not allowed."))
    let message = ChatMessage(sender: try JID("alice@example.com"), body: "reboot")
    guard case .answer(let answer) = talk.router.decide(message, now: talk.now) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.kind == .denied)
    #expect(answer.command == "reboot")
    #expect(try !talk.say("alice@example.com", "help").contains("reboot"))
    #expect(try talk.say("alice@example.com", "help reboot").hasPrefix("I don't know “reboot”."))
  }

  @Test("help lists what its reader may use here, sorted")
  func help() throws {
    var talk = try Conversation()
    #expect(
      try talk.say("bob@example.org", "help") == """
        deploy — Deploy a release
        help — What I can do; help NAME says more
        ping — Answers pong
        search — Look for words in our conversation
        status — How I am doing
        whoami — How I see you
        """)
    #expect(
      try talk.say("bob@example.org", "help Deploy") == "deploy — Deploy a release\nUsage: deploy SERVICE [VERSION]")
    #expect(try talk.say("bob@example.org", "help dploy") == "I don't know “dploy”. Did you mean deploy?")
    #expect(try talk.say("bob@example.org", "!help", room: "ops@rooms.example.org").contains("topic"))
    #expect(try !talk.say("bob@example.org", "!help", room: "ops@rooms.example.org").contains("friends"))
  }

  @Test("a command gets its arguments as typed, quotes resolved")
  func arguments() throws {
    var talk = try Conversation()
    #expect(try talk.say("bob@example.org", "deploy web '1.2 beta'") == "(runs deploy: web|1.2 beta)")
    #expect(try talk.say("bob@example.org", "Deploy $(id);ls") == "(runs deploy: $(id);ls)")
    #expect(try talk.say("bob@example.org", "deploy\nweb") == "(runs deploy: web)")
    #expect(
      try talk.say("bob@example.org", "deploy it's")
        == "A ' has no partner: close it, or write \\' for the character itself.")
    #expect(try talk.say("bob@example.org", "search it's here") == "(runs search: it's|here)")
  }

  @Test("the text after the command stays as it was typed")
  func text() throws {
    var talk = try Conversation()
    let message = ChatMessage(sender: try JID("bob@example.org"), body: " deploy  'a'\n  b \n")
    guard case .run(let command) = talk.router.decide(message, now: talk.now) else {
      Issue.record("not run")
      return
    }
    #expect(command.request.text == "'a'\n  b \n")
    #expect(command.request.message.body == " deploy  'a'\n  b \n")
  }

  @Test("a nickname or resource that looks like an administrator's address opens nothing")
  func nickname() throws {
    var talk = try Conversation()
    let message = ChatMessage(
      sender: try JID("mallory@example.com"), body: "reboot", resource: "admin@example.org", nick: "admin@example.org")
    guard case .answer(let answer) = talk.router.decide(message, now: talk.now) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.kind == .denied)
  }

  @Test("the roster is asked as it is now")
  func roster() throws {
    var talk = try Conversation(facts: BotFacts(inRoster: { $0.description == "friend@example.com" }))
    #expect(try talk.say("friend@example.com/phone", "friends") == "(runs friends: )")
    #expect(try talk.say("stranger@example.com", "friends").hasPrefix("friends: not allowed."))
  }

  @Test("in a room only what is addressed to the bot is heard")
  func rooms() throws {
    var talk = try Conversation()
    let room = "ops@rooms.example.org"
    #expect(try talk.say("bob@example.org", "ping", room: room) == "(ignored: not addressed to the bot)")
    #expect(try talk.say("bob@example.org", "bots: ping", room: room) == "(ignored: not addressed to the bot)")
    #expect(try talk.say("bob@example.org", "!ping", room: room) == "pong")
    #expect(try talk.say("bob@example.org", "bot: ping 1", room: room) == "pong 1")
    #expect(try talk.say("bob@example.org", "bot, Ping 2", room: room) == "pong 2")
    #expect(
      try talk.say("bob@example.org", "!ping", room: "other@rooms.example.org") == "(ignored: not addressed to the bot)"
    )
  }

  @Test("a command for another kind of conversation says where it works")
  func places() throws {
    var talk = try Conversation()
    #expect(try talk.say("bob@example.org", "topic x") == "topic works only in a room.")
    #expect(
      try talk.say("admin@example.org", "!roster", room: "ops@rooms.example.org")
        == "roster works only in a chat with me: send it there.")
  }

  @Test("an occupant of a room that hides addresses is nobody, whatever the nickname")
  func anonymous() throws {
    var talk = try Conversation()
    let room = "ops@rooms.example.org"
    #expect(try talk.say(room, "!deploy web", room: room).hasPrefix("deploy: not allowed."))
    #expect(
      try talk.say(room, "!whoami", room: room) == "This room hides your address from me: I see only the nickname nick."
    )
  }

  @Test("in a room that hides addresses the affiliation opens what it may, and whoami tells it")
  func affiliation() throws {
    var talk = try Conversation()
    let owners = CommandDescription(name: "lock", allow: [.affiliation(.admin)], places: .room)
    #expect(talk.router.commands.add(Command(owners, Nothing(), origin: "test")) == nil)
    let room = "ops@rooms.example.org"
    func say(_ body: String, _ affiliation: Affiliation) throws -> String {
      try talk.say(room, body, room: room) {
        $0.affiliation = affiliation
        $0.role = .moderator
      }
    }
    #expect(try say("!lock", .owner) == "(runs lock: )")
    #expect(try say("!lock", .member).hasPrefix("lock: not allowed."))
    #expect(try say("!help", .owner).contains("lock"))
    #expect(try !say("!help", .member).contains("lock"))
    #expect(try say("!whoami", .owner).hasSuffix("the nickname nick, affiliation owner, role moderator."))
  }

  @Test("what an operator tries out is judged as the contact's own, and remembered nowhere")
  func trial() throws {
    var talk = try Conversation(rate: RateLimit(count: 1, per: .seconds(10)))
    func tried(_ sender: String, _ name: String, _ words: [String], room: String? = nil) throws -> String {
      let room = try room.map { name throws(JIDError) in try JID(name) }
      return Conversation.text(
        talk.router.trial(name, words, as: ChatMessage(sender: try JID(sender), body: "", room: room)))
    }
    for _ in 0..<3 { #expect(try tried("alice@example.com", "ping", ["it's", "me"]) == "pong it's me") }
    #expect(try tried("alice@example.com", "reboot", []).hasPrefix("reboot: not allowed."))
    #expect(try tried("alice@example.com", "pnig", []).contains("Did you mean ping?"))
    #expect(
      try tried("bob@example.org", "Deploy", ["a b", "", "it's", "\"", "\\"]) == "(runs deploy: a b||it's|\"|\\)")
    #expect(try tried("bob@example.org", "topic", ["x"]) == "topic works only in a room.")
    #expect(try tried("bob@example.org", "topic", ["x"], room: "ops@rooms.example.org") == "(runs topic: x)")
    #expect(try tried("bob@example.org", "search", ["it's"]) == "(runs search: it's)")
    #expect(try talk.say("alice@example.com", "ping") == "pong", "the trials took nothing from the limit")
    guard
      case .run(let command) = talk.router.trial(
        "deploy", ["a b"],
        as: ChatMessage(sender: try JID("bob@example.org"), body: "", room: try JID("ops@rooms.example.org")))
    else {
      Issue.record("not run")
      return
    }
    #expect(command.request.message.body == "!deploy 'a b'" && command.request.text == "'a b'")
  }

  @Test("a command that arrives too late is not run; in a chat its sender is told")
  func stale() throws {
    var talk = try Conversation()
    #expect(
      try talk.say("bob@example.org", "deploy web", age: .seconds(301))
        == "deploy reached me too late to run it safely. Send it again if you still want it.")
    #expect(
      try talk.say("bob@example.org", "!deploy web", room: "ops@rooms.example.org", age: .seconds(301))
        == "(ignored: older than max-age)")
    #expect(try talk.say("bob@example.org", "good night", age: .seconds(301)) == "(ignored: older than max-age)")
    #expect(try talk.say("bob@example.org", "deploy web", age: .seconds(300)) == "(runs deploy: web)")
  }

  @Test("whoami tells address, resource, groups and rights")
  func whoami() throws {
    var talk = try Conversation()
    #expect(
      try talk.say("admin@example.org/laptop", "whoami")
        == "You are admin@example.org, using laptop, in the groups admins, staff, an administrator of this bot.")
    #expect(try talk.say("eve@example.com", "whoami") == "You are eve@example.com.")
    #expect(try talk.say("bob@example.org", "whoami") == "You are bob@example.org, in the group staff.")
  }

  @Test("status is short for contacts and in detail for administrators")
  func status() throws {
    var report = StatusReport()
    report.online = .seconds(3 * 3600 + 125)
    report.server = "example.org, TLS 1.3"
    report.reconnected = 2
    let fixed = report
    var talk = try Conversation(facts: BotFacts(status: { fixed }))
    #expect(try talk.say("eve@example.com", "status") == "Online for 3 h 2 min.")
    #expect(try talk.say("admin@example.org", "status").contains("example.org, TLS 1.3"))
    #expect(try talk.say("admin@example.org", "status").contains("reconnected 2 times"))
  }

  @Test("roster is for administrators")
  func rosterCommand() throws {
    let line = RosterLine(jid: try JID("bob@example.org"), name: "Bob", subscription: "both")
    var talk = try Conversation(facts: BotFacts(roster: { [line] }))
    #expect(try talk.say("admin@example.org", "roster") == "bob@example.org (Bob) — both")
    #expect(try talk.say("bob@example.org", "roster").hasPrefix("roster: not allowed."))
  }
}

@Suite("Loop guards")
struct LoopGuardTests {
  @Test("empty text is ignored", arguments: ["", " ", "\n\t", "\u{3000}"])
  func empty(body: String) throws {
    var talk = try Conversation()
    #expect(try talk.say("alice@example.com", body) == "(ignored: empty)")
  }

  @Test("an echo of the last answer is ignored once, so that two bots fall silent and a person is heard")
  func echo() throws {
    var talk = try Conversation()
    let answer = try talk.say("alice@example.com", "ping ping ping")
    #expect(answer == "pong ping ping")
    #expect(try talk.say("alice@example.com", "pong ping ping\n") == "(ignored: an echo of the last answer)")
    #expect(try talk.say("alice@example.com", "pong ping ping").hasPrefix("I don't know"))
    #expect(try talk.say("bob@example.com", "pong ping ping").hasPrefix("I don't know"))
  }

  @Test("what a command replied is known as an echo too")
  func echoOfReply() throws {
    var talk = try Conversation()
    let alice = ChatMessage(sender: try JID("alice@example.com"), body: "echo help")
    talk.router.replied("help", to: alice, now: talk.now)
    #expect(try talk.say("alice@example.com", "help") == "(ignored: an echo of the last answer)")
    #expect(try talk.say("alice@example.com", "help").contains("ping"))
  }

  @Test("after five unknown commands in a row there is silence, until a known one or a pause")
  func unknown() throws {
    var talk = try Conversation()
    for number in 1...4 {
      #expect(try !talk.say("bot@example.com", "Sorry, what? \(number)").contains("quiet"))
    }
    #expect(
      try talk.say("bot@example.com", "Sorry, what?").hasSuffix(
        "I stay quiet now until you send a command that I know."))
    #expect(try talk.say("bot@example.com", "Sorry, what?") == "(ignored: unknown commands, one after the other)")
    #expect(try talk.say("alice@example.com", "Sorry?").hasPrefix("I don't know"))
    #expect(try talk.say("bot@example.com", "ping") == "pong")
    #expect(try talk.say("bot@example.com", "Sorry, what?").hasPrefix("I don't know"))
    for _ in 0..<9 { _ = try talk.say("bot@example.com", "Sorry, what?") }
    talk.now += .seconds(601)
    #expect(try talk.say("bot@example.com", "Sorry, what?").hasPrefix("I don't know"))
  }

  @Test("two bots of this kind that greet each other stop within a dozen messages")
  func twoBots() throws {
    var one = try Conversation()
    var two = try Conversation()
    var text = "Hello there"
    var count = 0
    while !text.hasPrefix("(ignored"), count < 100 {
      text = count.isMultiple(of: 2) ? try one.say("two@example.com", text) : try two.say("one@example.com", text)
      count += 1
    }
    #expect(count < 12)
  }

  @Test("all occupants of a room together have a limit of their own; the room is told once")
  func roomRate() throws {
    var talk = try Conversation(rate: RateLimit(count: 3, per: .seconds(10)))
    talk.router.roomRate = RateLimit(count: 4, per: .seconds(10))
    let room = "ops@rooms.example.org"
    for sender in ["a@example.com", "b@example.com", "c@example.com", "d@example.com"] {
      #expect(try talk.say(sender, "!ping", room: room) == "pong")
    }
    #expect(
      try talk.say("e@example.com", "!ping", room: room).hasPrefix("Slow down: that is too many commands for one room"))
    #expect(try talk.say("f@example.com", "!ping", room: room) == "(ignored: over the room's rate limit)")
    #expect(try talk.say("f@example.com", "hello", room: room) == "(ignored: not addressed to the bot)")
    #expect(try talk.say("f@example.com", "ping") == "pong", "a chat is no part of the room")
    talk.now += .seconds(4)
    #expect(try talk.say("f@example.com", "!ping", room: room) == "pong")
  }

  @Test("who sends a hundred messages, each right after our answer, is told once and left alone until there is a pause")
  func reflexes() throws {
    var talk = try Conversation(rate: RateLimit(count: 1000, per: .seconds(1)))
    for number in 0...LoopGuard.reflexes {
      #expect(try talk.say("bot@example.com", "ping \(number)") == "pong \(number)")
      talk.now += .seconds(2)
    }
    #expect(try talk.say("bot@example.com", "ping on").hasPrefix("You answer each of my messages at once."))
    talk.now += .seconds(59)
    #expect(try talk.say("bot@example.com", "ping on") == "(ignored: answers of another bot)")
    #expect(try talk.say("alice@example.com", "ping") == "pong")
    talk.now += .seconds(60)
    #expect(try talk.say("bot@example.com", "ping again") == "pong again")
  }

  @Test("the same text again and again is a reflex even when it takes a while")
  func repeatedText() throws {
    var talk = try Conversation(rate: RateLimit(count: 1000, per: .seconds(1)))
    for _ in 0...LoopGuard.reflexes + 1 {
      #expect(try talk.say("bot@example.com", "ping") == "pong")
      talk.now += .seconds(10)
    }
    #expect(try talk.say("bot@example.com", "ping").hasPrefix("You answer each of my messages at once."))
  }

  @Test("other texts that take a while are no reflex, and without a limit there are none")
  func noReflexes() throws {
    var slow = try Conversation(rate: RateLimit(count: 1000, per: .seconds(1)))
    for number in 0..<300 {
      #expect(try slow.say("alice@example.com", "ping \(number)") == "pong \(number)")
      slow.now += .seconds(3)
    }
    var unlimited = try Conversation(rate: nil)
    for _ in 0..<300 { #expect(try unlimited.say("alice@example.com", "ping") == "pong") }
  }

  @Test("from who says of itself that it is a bot, only commands are answered; doubts arise at the second unknown word")
  func automaton() throws {
    var talk = try Conversation()
    let bot = ChatMessage(sender: try JID("bot@example.com"), body: "")
    #expect(try talk.say("bot@example.com", "Welcome!").hasPrefix("I don't know"))
    #expect(!talk.router.isDoubtful(bot))
    #expect(try talk.say("bot@example.com", "Sorry?").hasPrefix("I don't know"))
    #expect(talk.router.isDoubtful(bot))
    talk.router.isAutomaton(bot, now: talk.now)
    #expect(try talk.say("bot@example.com", "Pardon?") == "(ignored: from a bot, and no command)")
    #expect(try talk.say("bot@example.com", "ping") == "pong")
    #expect(try talk.say("bot@example.com", "What?") == "(ignored: from a bot, and no command)")
    #expect(try talk.say("alice@example.com", "What?").hasPrefix("I don't know"))
  }

  @Test("an encrypted message is answered once in a month, whatever the contact sends in between")
  func encrypted() throws {
    var talk = try Conversation(rate: RateLimit(count: 1, per: .seconds(10)))
    func say(_ sender: String) throws -> String { try talk.say(sender, "") { $0.isEncrypted = true } }
    #expect(
      try say("alice@example.com")
        == "I can't read encrypted messages. Turn encryption off for this chat, and send it again.")
    #expect(try say("alice@example.com") == "(ignored: encrypted, and its sender was told)")
    #expect(try talk.say("alice@example.com", "ping") == "pong")
    #expect(try say("bob@example.com").hasPrefix("I can't read"))
    talk.now += .seconds(29 * 86_400)
    #expect(try say("alice@example.com").hasPrefix("(ignored"))
    talk.now += .seconds(86_400)
    #expect(try say("alice@example.com").hasPrefix("I can't read"))
    talk.router.wasToldOfEncryption(try JID("carol@example.com"), now: talk.now)
    #expect(try say("carol@example.com").hasPrefix("(ignored"))
  }

  @Test("a correction is never run; who corrects what was no command is told so, once")
  func corrections() throws {
    var talk = try Conversation()
    func say(_ body: String, _ id: String, corrects: String? = nil, _ sender: String = "bob@example.org") throws
      -> String
    {
      try talk.say(sender, body) {
        $0.messageID = id
        $0.corrects = corrects
      }
    }
    #expect(try say("deploy web", "m1") == "(runs deploy: web)")
    #expect(try say("deploy www", "m2", corrects: "m1") == "(ignored: a correction)")
    #expect(try say("depoly web", "m3").hasPrefix("I don't know"))
    #expect(try say("deploy web", "m4", corrects: "m3", "carol@example.org") == "(ignored: a correction)", "not theirs")
    #expect(try say("nonsense", "m5", corrects: "m3") == "(ignored: a correction)")
    #expect(
      try say("deploy web", "m6", corrects: "m3") == "I don't run corrections: send the command as a new message.")
    #expect(try say("deploy www", "m7", corrects: "m3") == "(ignored: a correction)")
    #expect(try say("deploy it's", "m8").hasPrefix("A ' has no partner"))
    #expect(try say("deploy its", "m9", corrects: "m8").hasPrefix("I don't run corrections"))
    #expect(try say("ping", "m10") == "pong")
    #expect(try say("ping x", "m11", corrects: "m10") == "(ignored: a correction)")
  }

  @Test("too many commands: told once, then silence, then heard again")
  func rate() throws {
    var talk = try Conversation(rate: RateLimit(count: 3, per: .seconds(10)))
    #expect(try (0..<3).map { _ in try talk.say("alice@example.com", "ping") } == ["pong", "pong", "pong"])
    #expect(try talk.say("alice@example.com", "ping").hasPrefix("Slow down"))
    #expect(try talk.say("alice@example.com", "ping") == "(ignored: over the rate limit)")
    #expect(try talk.say("bob@example.com", "ping") == "pong")
    talk.now += .seconds(4)
    #expect(try talk.say("alice@example.com", "ping") == "pong")
  }
}

@Suite("Command table")
struct CommandTableTests {
  @Test("a built-in wins over a command of its name, and the operator is told")
  func clash() throws {
    var table = CommandTable()
    #expect(table.add(Command(Ping())) == nil)
    let own = Command(CommandDescription(name: "ping"), Nothing(), origin: "/etc/bot/ping")
    #expect(
      table.add(own)?.description
        == "/etc/bot/ping: the command ping exists already (built in): rename or remove one of them")
    #expect(table["ping"]?.origin == "built in")
  }

  @Test(
    "names are lower-case words",
    arguments: ["", "Ping", "two words", "-x", "_x", ".x", "a/b", "a.sh", String(repeating: "a", count: 65)])
  func badNames(name: String) {
    var table = CommandTable()
    #expect(table.add(Command(CommandDescription(name: name), Nothing(), origin: "test")) != nil)
    #expect(table.all.isEmpty)
  }

  @Test("letters of other scripts make names too", arguments: ["天气", "météo", "погода", "a-b_c9", "9"])
  func goodNames(name: String) {
    var table = CommandTable()
    #expect(table.add(Command(CommandDescription(name: name), Nothing(), origin: "test")) == nil)
  }
}
