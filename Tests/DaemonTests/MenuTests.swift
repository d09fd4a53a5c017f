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

/// Asks twice; who goes back is asked for the size again.
private struct Wizard: CommandHandler {
  let description = CommandDescription(name: "order", description: "Order a shirt", allow: [.everyone])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    while true {
      let size = await reply.ask(Question("Size", fields: [CommandField("size", label: "Size", required: true)]))
      guard case .values(let first) = size else { return "Use the menu." }
      let colour = await reply.ask(
        Question("Colour", fields: [CommandField("colour", label: "Colour")], mayGoBack: true, isLast: true))
      guard case .values(let second) = colour else { continue }
      return "\(first["size"] ?? "") \(second["colour"] ?? "any")"
    }
  }
}

@Suite("Commands as contacts' menus have them (XEP-0050)")
struct MenuTests {
  init() { LoopThread.start() }

  private static let phone = "alice@example.net/phone"

  /// The request of a menu; `more`: attributes; `form`: the fields of a form that was filled in.
  private static func command(
    _ id: String, _ node: String, from: String = phone, _ more: String = "", form: String? = nil
  ) -> String {
    "server: <iq type='set' id='\(id)' from='\(from)' to='bot@example.org/r'>"
      + "<command xmlns='http://jabber.org/protocol/commands' node='\(node)' \(more)>"
      + (form.map { "<x xmlns='jabber:x:data' type='submit'>\($0)</x>" } ?? "") + "</command></iq>"
  }

  private static func field(_ name: String, _ values: String...) -> String {
    "<field var='\(name)'>\(values.map { "<value>\($0)</value>" }.joined())</field>"
  }

  /// What the bot answers; the session is called `$sid`.
  private static func answer(
    _ id: String, _ node: String, _ status: String, to: String = phone, session: String = "$sid", _ inside: String
  ) -> String {
    "bot: <iq type='result' id='\(id)' to='\(to)'><command xmlns='http://jabber.org/protocol/commands' "
      + "node='\(node)' sessionid='\(session)' status='\(status)'>\(inside)</command></iq>"
  }

  private static func note(_ text: String, _ type: String = "info") -> String { "<note type='\(type)'>\(text)</note>" }

  private static func error(
    _ id: String, _ type: String, _ condition: String, _ detail: String? = nil, text: Bool = false, to: String = phone
  ) -> String {
    "bot: <iq type='error' id='\(id)' to='\(to)'><error type='\(type)'>"
      + "<\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>"
      + (text ? "<text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$any</text>" : "")
      + (detail.map { "<\($0) xmlns='http://jabber.org/protocol/commands'/>" } ?? "") + "</error></iq>"
  }

  private static let form = """
    <actions execute='complete'><complete/></actions>
     <x xmlns='jabber:x:data' type='form'><title>Deploy a release</title>
     <field var='service' type='list-single' label='Service'><required/>
     <option><value>web</value></option><option><value>db</value></option></field>
     <field var='notes' type='text-multi' label='Notes'/>
     <field var='owner' type='jid-single' label='Owner'/>
     <field var='force' type='boolean' label='Force'><value>1</value></field></x>
    """

  private static func disco(_ kind: String, _ id: String, _ node: String, from: String = phone) -> String {
    "server: <iq type='get' id='\(id)' from='\(from)' to='bot@example.org/r'>"
      + "<query xmlns='http://jabber.org/protocol/disco#\(kind)' node='\(node)'/></iq>"
  }

  /// Plays, and waits until all is archived that came of it.
  @LoopActor
  private func play(_ bench: FlowBench, _ lines: String...) async throws {
    for line in lines {
      try bench.play(line)
      await bench.settle()
    }
  }

  /// The same for a command that runs on other threads.
  @LoopActor
  private func run(_ bench: FlowBench, _ line: String) async throws {
    let before = bench.recording.messages(.commandRun).count + bench.recording.messages(.commandFailed).count
    try bench.play(line)
    for _ in 0..<100_000 {
      let ended = bench.recording.messages(.commandRun).count + bench.recording.messages(.commandFailed).count
      if ended > before { break }
      await bench.turnOnce()
    }
    await bench.settle()
  }

  // MARK: - The list

  @Test("the list has what the contact may use in a chat, and nothing else")
  @LoopActor func list() async throws {
    let bench = try await FlowBench.online([Deploy(), Secret(), InRooms()], admins: ["root@example.org"])
    func list(_ extra: String) -> String {
      """
       <item jid='bot@example.org/r' node='deploy' name='Deploy a release'/>
       <item jid='bot@example.org/r' node='help' name='What I can do; help NAME says more'/>
       <item jid='bot@example.org/r' node='ping' name='Answers pong'/>
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
      \(list("<item jid='bot@example.org/r' node='reload' name='Read my configuration again'/>"))
       <item jid='bot@example.org/r' node='roster' name='My contacts'/>
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

  // MARK: - Commands that take their time

  @Test("one that takes longer than a client waits is said to run; its answer comes as a message, once")
  @LoopActor func slow() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await play(bench, Self.command("1", "slow"))
    try bench.expectSilence()
    try bench.play("after 10s")
    let stillRunning = """
      <actions execute='next'><next/><complete/></actions>
       \(Self.note("slow still runs; its answer comes as a message. Look again, or cancel to stop it."))
      """
    try bench.play(Self.answer("1", "slow", "executing", stillRunning))
    // Who looks again waits again.
    try bench.play(Self.command("2", "slow", "sessionid='$sid' action='next'"))
    try bench.expectSilence()
    try bench.play("after 10s")
    try bench.play(Self.answer("2", "slow", "executing", stillRunning))
    await slow.gate.open()
    try await ended(bench)
    try bench.expectAnswer("at last", more: "<thread>$any</thread>")
    try bench.play(Self.command("3", "slow", "sessionid='$sid' action='next'"))
    try bench.play(
      Self.answer("3", "slow", "completed", Self.note("slow has ended; its answer came as a message.")))
    try bench.expectSilence()
    #expect(try await bench.transcript() == ["< slow", "> at last (sent)"])
  }

  @LoopActor
  private func ended(_ bench: FlowBench) async throws {
    for _ in 0..<100_000 where bench.dispatcher.running > 0 { await bench.turnOnce() }
    #expect(bench.dispatcher.running == 0)
    await bench.settle()
  }

  @Test("a running command is stopped by cancel: it says nothing more, and the ledger knows")
  @LoopActor func stopped() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await play(bench, Self.command("1", "slow"))
    try bench.play("after 10s")
    try bench.play(
      Self.answer("1", "slow", "executing", "<actions execute='next'><next/><complete/></actions>\(Self.note("$any"))"))
    try await play(bench, Self.command("2", "slow", "sessionid='$sid' action='cancel'"))
    try bench.play(Self.answer("2", "slow", "canceled", ""))
    await slow.gate.open()
    try await ended(bench)
    #expect(bench.sentBodies() == [])
    #expect(try await bench.transcript() == ["< slow"])
    #expect(try await outcomes(bench) == ["cancelled by the contact"])
  }

  @LoopActor
  private func outcomes(_ bench: FlowBench) async throws -> [String] {
    await bench.settle()
    return bench.recording.messages(.commandFailed).compactMap { $0.split(separator: ": ").last.map { String($0) } }
  }

  @Test("the answer goes as a message when the stream ended before the server had it")
  @LoopActor func unconfirmed() async throws {
    let bench = try await FlowBench.online()
    try await play(bench, Self.command("1", "status"))
    try bench.play(Self.answer("1", "status", "completed", Self.note("Offline.")))
    #expect(try await bench.transcript() == ["< status", "> Offline. (sent)"])
    try bench.play(
      """
      the connection is lost
      after 10s
      """)
    try await bench.goOnline()
    try bench.expectAnswer("Offline.", more: "<thread>$any</thread>", delayed: "2001-09-09T01:46:40.000000Z")
    #expect(try await bench.transcript() == ["< status", "> Offline. (sent)"])
  }

  @Test("a new stream ends the wait: who asked is told, and the answer comes as a message")
  @LoopActor func newStream() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await play(bench, Self.command("1", "slow"))
    try bench.play(
      """
      the connection is lost
      after 2s
      """)
    bench.flow.online(.new)
    try bench.play(Greeting.toBinding.replacing("$", with: "$again"))
    try bench.play(
      """
      server: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>
       <jid>bot@example.org/r</jid></bind></iq>
      """)
    try bench.play(Self.error("1", "wait", "recipient-unavailable", text: true))
    bench.conversation.skip()
    bench.flow.discovered()
    await bench.settle()
    await slow.gate.open()
    try await ended(bench)
    try bench.expectAnswer("at last", more: "<thread>$any</thread>")
  }

  @Test("a text that is longer than one message comes as messages")
  @LoopActor func long() async throws {
    let bench = try await FlowBench.online()
    let text = String(repeating: "x ", count: 6_000)
    try await play(bench, Self.command("1", "ping", form: Self.field("text", text)))
    #expect(bench.sentBodies().count == 2)
    #expect(try await bench.transcript().count == 3)
  }

  // MARK: - Commands that ask

  @Test("a handler asks step by step; the contact goes back, and on, and is told the result")
  @LoopActor func steps() async throws {
    let bench = try await FlowBench.online([Wizard()])
    try await play(bench, Self.command("1", "order"))
    let size = """
      <actions execute='next'><next/></actions><x xmlns='jabber:x:data' type='form'><title>Size</title>
       <field var='size' type='text-single' label='Size'><required/></field></x>
      """
    let colour = """
      <actions execute='complete'><prev/><complete/></actions>
       <x xmlns='jabber:x:data' type='form'><title>Colour</title>
       <field var='colour' type='text-single' label='Colour'/></x>
      """
    try await expect(bench, Self.answer("1", "order", "executing", size))
    try bench.play(Self.command("2", "order", "sessionid='$sid' action='next'", form: Self.field("size", "L")))
    try await expect(bench, Self.answer("2", "order", "executing", colour))
    try bench.play(Self.command("3", "order", "sessionid='$sid' action='prev'"))
    try await expect(bench, Self.answer("3", "order", "executing", size))
    try bench.play(Self.command("4", "order", "sessionid='$sid'", form: Self.field("size", "M")))
    try await expect(bench, Self.answer("4", "order", "executing", colour))
    try bench.play(Self.command("5", "order", "sessionid='$sid' action='complete'", form: Self.field("colour", "red")))
    try await expect(bench, Self.answer("5", "order", "completed", Self.note("M red")))
    #expect(try await bench.transcript() == ["< order", "> M red (sent)"])
  }

  /// The bot says it before long.
  @LoopActor
  private func expect(_ bench: FlowBench, _ line: String) async throws {
    for _ in 0..<100_000 where bench.conversation.dialer.stream?.written.isEmpty == true { await bench.turnOnce() }
    try bench.play(line)
    await bench.settle()
  }

  @Test("cancel ends a handler that waits for an answer")
  @LoopActor func cancelledQuestion() async throws {
    let bench = try await FlowBench.online([Wizard()])
    try await play(bench, Self.command("1", "order"))
    try await expect(
      bench,
      Self.answer(
        "1", "order", "executing",
        """
        <actions execute='next'><next/></actions><x xmlns='jabber:x:data' type='form'><title>Size</title>
         <field var='size' type='text-single' label='Size'><required/></field></x>
        """))
    try await play(bench, Self.command("2", "order", "sessionid='$sid' action='cancel'"))
    try bench.play(Self.answer("2", "order", "canceled", ""))
    #expect(bench.dispatcher.running == 0)
    #expect(try await bench.transcript() == ["< order"])
  }

  @Test("nobody answers the question: after ten minutes the command ends, and its contact is told")
  @LoopActor func abandoned() async throws {
    let bench = try await FlowBench.online([Wizard()])
    try await play(bench, Self.command("1", "order"))
    for _ in 0..<100_000 where bench.conversation.dialer.stream?.written.isEmpty == true { await bench.turnOnce() }
    bench.conversation.skip()
    bench.conversation.clock.advance(by: .seconds(600))
    try await ended(bench)
    #expect(
      try await bench.transcript().last?.hasPrefix("> order: failed (its question was not answered in time)") == true)
  }

  @Test("in a chat nothing can be asked, and the handler hears so")
  @LoopActor func inChat() async throws {
    let bench = try await FlowBench.online([Wizard()])
    try await bench.receive("order", id: "m1")
    try await ended(bench)
    #expect(try await bench.transcript() == ["< order", "> Use the menu. (sent)"])
  }

  @Test("a command from a menu that the end of the process cut short is answered with a message")
  @LoopActor func interrupted() async throws {
    let bench = try await DaemonBench { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      var asked = NewMessage(.in, .normal, peer: "alice@example.net", time: 999_999_999_000_000, body: "deploy web")
      asked.resource = "phone"
      asked.thread = Menus.thread(of: "s")
      guard case .inserted(let id) = try transaction.insert(asked) else { return }
      try transaction.openCommand("deploy", message: id, at: asked.time)
    }
    await bench.settle()
    #expect(
      try await bench.transcript().last?.hasPrefix("> deploy: interrupted, I was restarted while it ran.") == true)
  }

  @Test("the bot says that it has commands (XEP-0030)")
  @LoopActor func feature() async throws {
    let bench = try await DaemonBench.online()
    try bench.play(
      """
      server: <iq type='get' id='1' from='\(Self.phone)' to='bot@example.org/r'>
       <query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      """)
    #expect(await bench.hears("jabber:x:data"))
    #expect(await bench.hears("http://jabber.org/protocol/commands"))
  }
}
