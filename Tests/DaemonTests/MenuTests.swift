import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

/// Says what it was asked, each argument in brackets; "long" says much.
private struct Deploy: CommandHandler {
  let description = CommandDescription(
    name: "deploy", description: "Deploy a release",
    allow: [.everyone],
    fields: [
      CommandField("service", .choice(["web", "db"]), label: "Service", required: true),
      CommandField("notes", .lines, label: "Notes"), CommandField("owner", .jid, label: "Owner"),
      CommandField("force", .boolean, label: "Force", standard: "yes"),
    ])

  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    request.arguments.map { "[\($0)]" }.joined()
  }
}

private struct Secret: CommandHandler {
  let description = CommandDescription(name: "secret", description: "For administrators")
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "secret" }
}

private struct InRooms: CommandHandler {
  let description = CommandDescription(name: "topic", allow: [.everyone], places: .room)
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "topic" }
}

/// Talks while it runs.
private struct Talker: CommandHandler {
  let description = CommandDescription(name: "talk", allow: [.everyone])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    reply("one")
    reply("two")
    return "three"
  }
}

private struct Failing: CommandHandler {
  let description = CommandDescription(name: "fail", allow: [.everyone])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    throw CommandError.failed("the disk is full")
  }
}

@Suite("Commands as contacts' menus have them (XEP-0050)")
struct MenuTests: MenuScripts {
  init() { LoopThread.start() }

  // MARK: - The list

  @Test("the list has what the contact may use in a chat, and nothing else")
  @LoopActor func list() async throws {
    let bench = try await FlowBench.online([Deploy(), Secret(), InRooms()], admins: ["root@example.org"])
    func list(_ extra: String, afterHelp: String = "") -> String {
      """
       <item jid='bot@example.org/r' node='deploy' name='Deploy a release'/>
       <item jid='bot@example.org/r' node='help' name='What I can do; help NAME says more'/>
       \(afterHelp)<item jid='bot@example.org/r' node='ping' name='Answers pong'/>
       \(extra)
      """
    }
    let rest = """
      <item jid='bot@example.org/r' node='search' name='Look for words in our conversation'/>
      """
    try bench.play(
      """
      \(Self.disco("items", "1", "http://jabber.org/protocol/commands"))
      bot: <iq type='result' id='1' to='\(Self.phone)'>
       <query xmlns='http://jabber.org/protocol/disco#items' node='http://jabber.org/protocol/commands'>
      \(list(rest))
       <item jid='bot@example.org/r' node='status' name='How I am doing'/>
       <item jid='bot@example.org/r' node='whoami' name='How I see you'/></query></iq>
      \(Self.disco("items", "2", "http://jabber.org/protocol/commands", from: "root@example.org/x"))
      bot: <iq type='result' id='2' to='root@example.org/x'>
       <query xmlns='http://jabber.org/protocol/disco#items' node='http://jabber.org/protocol/commands'>
      \(list(
        "<item jid='bot@example.org/r' node='reload' name='Read my configuration again'/>",
        afterHelp: "<item jid='bot@example.org/r' node='join' name='Join a room'/>"
          + "<item jid='bot@example.org/r' node='leave' name='Leave a room'/>"))
       <item jid='bot@example.org/r' node='rooms' name='The rooms that I am in'/>
       <item jid='bot@example.org/r' node='roster' name='My contacts'/>
       <item jid='bot@example.org/r' node='say' name='Say something in a room'/>
       \(rest)
       <item jid='bot@example.org/r' node='secret' name='For administrators'/>
       <item jid='bot@example.org/r' node='status' name='How I am doing'/>
       <item jid='bot@example.org/r' node='whoami' name='How I see you'/></query></iq>
      """)
    // Nobody that can be judged: a server, the account itself.
    for (id, from) in [("3", "example.net"), ("4", "bot@example.org/other")] {
      try bench.play(
        """
        \(Self.disco("items", id, "http://jabber.org/protocol/commands", from: from))
        bot: <iq type='result' id='\(id)' to='\(from)'>
         <query xmlns='http://jabber.org/protocol/disco#items' node='http://jabber.org/protocol/commands'/></iq>
        """)
    }
  }

  @Test("a command says what it is; one that the contact may not use is as unknown as one that is not there")
  @LoopActor func information() async throws {
    let bench = try await FlowBench.online([Deploy(), Secret(), InRooms()])
    try bench.play(
      """
      \(Self.disco("info", "1", "deploy"))
      bot: <iq type='result' id='1' to='\(Self.phone)'>
       <query xmlns='http://jabber.org/protocol/disco#info' node='deploy'>
       <identity category='automation' type='command-node' name='Deploy a release'/>
       <feature var='http://jabber.org/protocol/commands'/><feature var='jabber:x:data'/></query></iq>
      \(Self.disco("info", "2", "http://jabber.org/protocol/commands"))
      bot: <iq type='result' id='2' to='\(Self.phone)'>
       <query xmlns='http://jabber.org/protocol/disco#info' node='http://jabber.org/protocol/commands'>
       <identity category='automation' type='command-list' name='Commands'/>
       <feature var='http://jabber.org/protocol/commands'/></query></iq>
      """)
    for node in ["secret", "topic", "nonsense"] {
      for kind in ["info", "items"] {
        try bench.play(Self.disco(kind, "3", node))
        try bench.play(Self.error("3", "cancel", "item-not-found"))
      }
      try bench.play(Self.command("4", node))
      try bench.play(Self.error("4", "cancel", "item-not-found"))
    }
    #expect(try await bench.transcript() == [])
    #expect(
      bench.recording.messages(.commandDenied) == [
        "alice@example.net may not use secret", "alice@example.net may not use topic",
      ])
  }

  // MARK: - Running

  @Test("a command without fields runs at once: question and answer are archived, and the answer is the request's")
  @LoopActor func atOnce() async throws {
    let bench = try await FlowBench.online()
    try await play(bench, Self.command("1", "whoami"))
    try bench.play(Self.answer("1", "whoami", "completed", Self.note("You are alice@example.net, using phone.")))
    try bench.expectSilence()
    #expect(try await bench.transcript() == ["< whoami", "> You are alice@example.net, using phone. (sent)"])
    let rows = try await bench.rows()
    #expect(rows[0].kind == .normal && rows[0].resource == "phone" && rows[0].messageID == nil)
    #expect(rows[0].thread?.hasPrefix("menu-") == true && rows[1].thread == rows[0].thread)
  }

  @Test("a form comes, and what is filled in reaches the command as its arguments")
  @LoopActor func form() async throws {
    let bench = try await FlowBench.online([Deploy()])
    try bench.play(Self.command("1", "deploy", "action='execute'"))
    try bench.play(Self.answer("1", "deploy", "executing", Self.form))
    try await run(
      bench,
      Self.command(
        "2", "deploy", "sessionid='$sid' action='complete'",
        form: Self.field("service", "web") + Self.field("notes", "it's", "done")
          + Self.field("owner", "Bob@EXAMPLE.org") + Self.field("force", "0")))
    try bench.play(
      Self.answer(
        "2", "deploy", "completed",
        """
        <x xmlns='jabber:x:data' type='result'><title>Deploy a release</title>
         <field var='answer' type='text-multi' label='Answer'><value>[web][it's</value>
         <value>done][bob@example.org][no]</value></field></x>
        """))
    try bench.expectSilence()
    #expect(
      try await bench.transcript() == [
        "< deploy web 'it'\\''s\ndone' bob@example.org no", "> [web][it's\ndone][bob@example.org][no] (sent)",
      ])
    // The session has ended.
    try bench.play(Self.command("3", "deploy", "sessionid='$sid'"))
    try bench.play(Self.error("3", "cancel", "not-allowed", "session-expired", text: true))
  }

  @Test("a form that does not fit comes again and says why; nothing runs, nothing is archived")
  @LoopActor func unfit() async throws {
    let bench = try await FlowBench.online([Deploy()])
    try bench.play(Self.command("1", "deploy"))
    try bench.play(Self.answer("1", "deploy", "executing", Self.form))
    let filledIn = Self.field("owner", "nobody") + Self.field("service", "cache")
    try bench.play(Self.command("2", "deploy", "sessionid='$sid'", form: filledIn))
    try bench.play(
      Self.answer(
        "2", "deploy", "executing",
        """
        <actions execute='complete'><complete/></actions>
         \(Self.note("Service: choose one of web, db.", "error"))
         \(Self.note("Owner: that is no address; write it as name@example.org.", "error"))
         <x xmlns='jabber:x:data' type='form'><title>Deploy a release</title>
         <field var='service' type='list-single' label='Service'><required/><value>cache</value>
         <option><value>web</value></option><option><value>db</value></option></field>
         <field var='notes' type='text-multi' label='Notes'/>
         <field var='owner' type='jid-single' label='Owner'><value>nobody</value></field>
         <field var='force' type='boolean' label='Force'><value>1</value></field></x>
        """))
    let bad = [
      Self.field("unasked", "x"), Self.field("service", "web") + Self.field("service", "db"),
      (0..<10_000).map { Self.field("f\($0)", "x") }.joined(),
      Self.field("notes", String(repeating: "x", count: 70_000)),
    ]
    for fields in bad {
      try bench.play(Self.command("3", "deploy", "sessionid='$sid'", form: fields))
      try bench.play(Self.error("3", "modify", "bad-request", "bad-payload", text: true))
    }
    #expect(try await bench.transcript() == [])
    // It is still open.
    try await run(bench, Self.command("4", "deploy", "sessionid='$sid'", form: Self.field("service", "db")))
    try bench.play(Self.answer("4", "deploy", "completed", Self.note("[db][][][yes]")))
  }

  @Test(
    "requests that are none are refused: no node, an unknown action, a get, a session that never was, a foreign one")
  @LoopActor func refused() async throws {
    let bench = try await FlowBench.online([Deploy()])
    try bench.play(
      "server: <iq type='set' id='1' from='\(Self.phone)'><command xmlns='http://jabber.org/protocol/commands'/></iq>")
    try bench.play(Self.error("1", "modify", "bad-request"))
    try bench.play(Self.command("2", "deploy", "action='dance'"))
    try bench.play(Self.error("2", "modify", "bad-request", "malformed-action"))
    try bench.play(Self.command("3", "deploy", "action='next'"))
    try bench.play(Self.error("3", "modify", "bad-request", "bad-action"))
    try bench.play(
      """
      server: <iq type='get' id='4' from='\(Self.phone)'>
       <command xmlns='http://jabber.org/protocol/commands' node='deploy'/></iq>
      """)
    try bench.play(Self.error("4", "modify", "bad-request"))
    try bench.play(Self.command("5", "deploy"))
    try bench.play(Self.answer("5", "deploy", "executing", Self.form))
    for (from, session) in [
      (Self.phone, "guessed"), ("alice@example.net/laptop", "$sid"), ("mallory@example.net/x", "$sid"),
    ] {
      try bench.play(
        Self.command("6", "deploy", from: from, "sessionid='\(session)'", form: Self.field("service", "web")))
      try bench.play(Self.error("6", "cancel", "not-allowed", "session-expired", text: true, to: from))
    }
    #expect(try await bench.transcript() == [])
  }

  @Test("a form is cancelled")
  @LoopActor func cancelled() async throws {
    let bench = try await FlowBench.online([Deploy()])
    try bench.play(Self.command("1", "deploy"))
    try bench.play(Self.answer("1", "deploy", "executing", Self.form))
    try bench.play(Self.command("2", "deploy", "sessionid='$sid' action='cancel'"))
    try bench.play(Self.answer("2", "deploy", "canceled", ""))
    try bench.play(Self.command("3", "deploy", "sessionid='$sid'"))
    try bench.play(Self.error("3", "cancel", "not-allowed", "session-expired", text: true))
  }

  @Test("what a command says on its way stands before its last words; a failure is an error's note")
  @LoopActor func words() async throws {
    let bench = try await FlowBench.online([Talker(), Failing()])
    try await run(bench, Self.command("1", "talk"))
    try bench.play(
      Self.answer(
        "1", "talk", "completed",
        """
        <x xmlns='jabber:x:data' type='result'><title>talk</title><field var='answer' type='text-multi' label='Answer'>
         <value>one</value><value>two</value><value>three</value></field></x>
        """))
    try await run(bench, Self.command("2", "fail"))
    try bench.play(
      Self.answer(
        "2", "fail", "completed", session: "$second", Self.note("fail: failed (the disk is full)", "error")))
    try bench.expectSilence()
    #expect(
      try await bench.transcript() == [
        "< talk", "> one\ntwo\nthree (sent)", "< fail", "> fail: failed (the disk is full) (sent)",
      ])
  }

  @Test("rate limits hold as in a chat, and are told as the request's answer")
  @LoopActor func limited() async throws {
    let bench = try await FlowBench.online()
    bench.flow.router.rate = RateLimit(count: 1, per: .seconds(3_600))
    try await play(bench, Self.command("1", "status"), Self.command("2", "status"), Self.command("3", "status"))
    try bench.play(Self.answer("1", "status", "completed", Self.note("Offline.")))
    try bench.play(
      Self.answer(
        "2", "status", "completed", session: "$second",
        Self.note(
          "Slow down: that is too many commands at once. I will not answer until you pause for a moment.", "error")))
    try bench.play(Self.error("3", "wait", "resource-constraint", text: true))
    #expect(try await bench.transcript().count == 5)
  }
}
