import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

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

@Suite("Commands in menus that take their time, or ask")
struct MenuStepTests: MenuScripts {
  init() { LoopThread.start() }

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

  /// `slow`, for others.
  private struct Withdrawn: CommandHandler {
    let description = CommandDescription(name: "slow")
    func run(_ request: CommandRequest, reply: Reply) async throws -> String? { nil }
  }

  @Test("who may not use a command any more may still stop it, but go on with nothing")
  @LoopActor func withdrawn() async throws {
    let slow = Slow()
    let bench = try await FlowBench.online([slow])
    try await play(bench, Self.command("1", "slow"))
    try bench.play("after 10s")
    try bench.play(
      Self.answer("1", "slow", "executing", "<actions execute='next'><next/><complete/></actions>\(Self.note("$any"))"))
    #expect(bench.flow.router.commands.update(Command(Withdrawn())) == nil)
    try bench.play(Self.command("2", "slow", "sessionid='$sid' action='next'"))
    try bench.play(Self.error("2", "cancel", "item-not-found"))
    try bench.play(Self.command("3", "slow", from: "mallory@example.net/x", "sessionid='$sid' action='cancel'"))
    try bench.play(
      Self.error("3", "cancel", "not-allowed", "session-expired", text: true, to: "mallory@example.net/x"))
    #expect(bench.dispatcher.running == 1)
    try await play(bench, Self.command("4", "slow", "sessionid='$sid' action='cancel'"))
    try bench.play(Self.answer("4", "slow", "canceled", ""))
    await slow.gate.open()
    try await ended(bench)
    #expect(try await bench.transcript() == ["< slow"])
    #expect(try await outcomes(bench) == ["cancelled by the contact"])
  }

  @Test("what a command said on its way is not told twice when the wait ends while its end is being committed")
  @LoopActor func toldOnce() async throws {
    let slow = Slow(saying: "half-way")
    let bench = try await FlowBench.online([slow])
    try await play(bench, Self.command("1", "slow"))
    let disk = bench.holdDisk()
    await slow.gate.open()
    for _ in 0..<100_000 where bench.dispatcher.running > 0 { await bench.turnOnce() }
    try bench.play("after 10s")
    try bench.play(
      Self.answer("1", "slow", "executing", "<actions execute='next'><next/><complete/></actions>\(Self.note("$any"))"))
    disk.open()
    await bench.settle()
    #expect(bench.sentBodies() == ["half-way\nat last"])
    #expect(try await bench.transcript() == ["< slow", "> half-way\nat last (sent)"])
    #expect(bench.flow.running.isEmpty)
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

  /// Lets its contact choose.
  private struct Chooser: WaitingCommand {
    func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
      final class Running: RunningCommand { func stop(_ reason: CommandResult) {} }
      if let choice = request.choice {
        events.finish(.done, "You chose \(choice.text).")
      } else {
        events.perform(.offer(["Tea", "Green tea"], asked: "q"))
        events.finish(.done, "Which?")
      }
      return Running()
    }
  }

  @Test("a choice that a command offers is the next step of its session")
  @LoopActor func choice() async throws {
    let bench = try await FlowBench.online()
    _ = bench.flow.router.commands.add(
      Command(CommandDescription(name: "drink", allow: [.everyone]), Chooser(), origin: "test"))
    try await play(bench, Self.command("1", "drink"))
    try bench.play(
      Self.answer(
        "1", "drink", "executing",
        """
        <actions execute='complete'><complete/></actions>\(Self.note("Which?"))
         <x xmlns='jabber:x:data' type='form'><title>drink</title>
         <field var='choice' type='list-single' label='Choose'><required/>
         <option><value>Tea</value></option><option><value>Green tea</value></option></field></x>
        """))
    try await play(
      bench, Self.command("2", "drink", "sessionid='$sid' action='complete'", form: Self.field("choice", "Green tea")))
    try bench.play(Self.answer("2", "drink", "completed", Self.note("You chose Green tea.")))
    try bench.expectSilence()
    #expect(
      try await bench.transcript() == [
        "< drink", "> Which? (sent)", "< Green tea", "> You chose Green tea. (sent)",
      ])
  }

  @Test("a choice made in a menu answers the question that it shows, and no other that was asked since")
  @LoopActor func otherQuestion() async throws {
    let bench = try await FlowBench.online()
    for name in ["drink", "soothe"] {
      _ = bench.flow.router.commands.add(
        Command(CommandDescription(name: name, allow: [.everyone]), Chooser(), origin: "test"))
    }
    try await play(bench, Self.command("1", "drink"))
    #expect(bench.written().contains("<value>Green tea</value>"))
    let session = bench.written().split(separator: "sessionid='").last.map { String($0.prefix { $0 != "'" }) } ?? ""
    bench.conversation.skip()
    try await bench.receive("soothe", id: "m1")
    bench.conversation.skip()
    try await play(bench, Self.command("2", "drink", "sessionid='\(session)'", form: Self.field("choice", "Tea")))
    try bench.play(
      Self.answer(
        "2", "drink", "completed",
        Self.note("That question is no longer open. Use drink again to be asked anew.", "error")))
    try await bench.receive("1", id: "m2")
    #expect(bench.sentBodies() == ["You chose Tea."])
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
