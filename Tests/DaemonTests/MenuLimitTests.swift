import Archive
import BotKit
import EventLoop
import JID
import Testing
import XMPPTesting

@testable import Daemon

private struct Deploy: CommandHandler {
  let description = CommandDescription(
    name: "deploy", allow: [.everyone],
    fields: [
      CommandField("service", .choice(["web", "db"]), label: "Service", required: true),
      CommandField("notes", .lines, label: "Notes"),
    ])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "deployed" }
}

/// Counts, a number a line: short as a text, long as a form's values.
private struct Count: CommandHandler {
  let description = CommandDescription(name: "count", allow: [.everyone])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    (1...1_500).map(String.init).joined(separator: "\n")
  }
}

/// Its form has more to choose from than a stanza holds.
private struct Wide: CommandHandler {
  let description = CommandDescription(
    name: "wide", allow: [.everyone],
    fields: [CommandField("one", .choice((0..<300).map { "the choice with the number \($0)" }), label: "One")])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? { "chosen" }
}

/// Asks what no stanza holds.
private struct Verbose: CommandHandler {
  let description = CommandDescription(name: "verbose", allow: [.everyone])
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    let question = Question("All of it", instructions: String(repeating: "x", count: 20_000), fields: [])
    return "\(await reply.ask(question))"
  }
}

private struct Numbered: CommandHandler {
  let description: CommandDescription
  init(_ number: Int) { description = CommandDescription(name: "c\(1_000 + number)", allow: [.everyone]) }
  func run(_ request: CommandRequest, reply: Reply) async throws -> String? { nil }
}

@Suite("Menus: how long an answer may be, and how many there are")
struct MenuLimitTests: MenuScripts {
  init() { LoopThread.start() }

  private static let form = """
    <actions execute='complete'><complete/></actions>$note
     <x xmlns='jabber:x:data' type='form'><title>deploy</title>
     <field var='service' type='list-single' label='Service'><required/>
     <option><value>web</value></option><option><value>db</value></option></field>
     <field var='notes' type='text-multi' label='Notes'/></x>
    """

  private static func form(notes: String...) -> String {
    form.replacing("$note", with: notes.joined())
  }

  @Test("a form that comes back has no more in it than a stanza holds, and says so")
  @LoopActor func entries() async throws {
    let bench = try await FlowBench.online([Deploy()])
    try bench.play(Self.command("1", "deploy"))
    try bench.play(Self.answer("1", "deploy", "executing", Self.form()))
    let long = Self.field("notes", String(repeating: "&amp;", count: 65_000))
    try bench.play(Self.command("2", "deploy", "sessionid='$sid'", form: long))
    try bench.play(
      Self.answer(
        "2", "deploy", "executing",
        Self.form(
          notes: Self.note("Service: fill this in.", "error"),
          Self.note("What you filled in is too long to be shown again."))))
    // Many short values are as long.
    let many = "<field var='notes'>\(String(repeating: "<value/>", count: 1_000))</field>"
    try bench.play(Self.command("3", "deploy", "sessionid='$sid'", form: many))
    try bench.play(
      Self.answer(
        "3", "deploy", "executing",
        Self.form(
          notes: Self.note("Service: fill this in.", "error"),
          Self.note("What you filled in is too long to be shown again."))))
    #expect(try await bench.transcript() == [])
  }

  @Test("a form that no stanza holds is refused with a sentence, and the stream lives")
  @LoopActor func wide() async throws {
    let bench = try await FlowBench.online([Wide()])
    try bench.play(Self.command("1", "wide"))
    try bench.play(Self.error("1", "modify", "not-acceptable", text: true))
  }

  @Test("a question that no stanza holds can't be asked, and the handler hears so")
  @LoopActor func verbose() async throws {
    let bench = try await FlowBench.online([Verbose()])
    try await run(bench, Self.command("1", "verbose"))
    try bench.play(Self.answer("1", "verbose", "completed", Self.note("unavailable")))
  }

  @Test("an answer that is longer as a form than a stanza holds comes as a message")
  @LoopActor func lines() async throws {
    let bench = try await FlowBench.online([Count()])
    try await run(bench, Self.command("1", "count"))
    #expect(bench.sentBodies().count == 1)
    #expect(bench.written().contains("<note type='info'>The answer comes as a message.</note>"))
    #expect(bench.written().utf8.count < 2 * 10_000)
    let transcript = try await bench.transcript()
    #expect(transcript.count == 2 && transcript[1].hasSuffix("\n1500 (sent)"))
  }

  @Test("a list of commands that no stanza holds is cut")
  @LoopActor func list() async throws {
    let bench = try await FlowBench.online((0..<200).map(Numbered.init))
    try bench.play(Self.disco("items", "1", "http://jabber.org/protocol/commands"))
    let written = bench.written()
    #expect(written.utf8.count <= 10_000 && written.utf8.count > 9_900)
    #expect(written.contains("node='c1000'") && !written.contains("node='c1199'"))
  }

  @Test("pages of forms count against the contact's rate; what was refused may be sent again")
  @LoopActor func rate() async throws {
    let bench = try await FlowBench.online([Deploy()])
    bench.flow.router.rate = RateLimit(count: 2, per: .seconds(3_600))
    try bench.play(Self.command("1", "deploy"))
    try bench.play(Self.answer("1", "deploy", "executing", Self.form()))
    try bench.play(Self.command("2", "deploy", "sessionid='$sid'", form: Self.field("notes")))
    try bench.play(
      Self.answer("2", "deploy", "executing", Self.form(notes: Self.note("Service: fill this in.", "error"))))
    try bench.play(Self.command("3", "deploy", "sessionid='$sid'", form: Self.field("notes")))
    try bench.play(Self.error("3", "wait", "resource-constraint", text: true))
    try bench.play(Self.command("4", "deploy"))
    try bench.play(Self.error("4", "wait", "resource-constraint", text: true))
    bench.flow.router.rate = nil
    try await run(bench, Self.command("5", "deploy", "sessionid='$sid'", form: Self.field("service", "web")))
    try bench.play(Self.answer("5", "deploy", "completed", Self.note("deployed")))
  }
}
