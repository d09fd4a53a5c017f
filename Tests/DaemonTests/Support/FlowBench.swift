import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Systemd
import Testing
import XML
import XMPPClient
import XMPPStanzas
import XMPPTesting

@testable import Daemon

/// A message flow between a scripted server and a real archive.
@LoopActor
final class FlowBench {
  let scratch: Scratch
  let archive: Archive
  let conversation: Conversation
  let gate: ArchiveGate
  let flow: MessageFlow
  let dispatcher: Dispatcher
  let recording = Recording()
  /// Microseconds since 1970: 2001-09-09T01:46:40Z.
  let now: Int64 = 1_000_000_000_000_000

  var session: Session { conversation.session }

  /// Not online yet. `admins`: members of that group; `queued`: rows that wait from an earlier life.
  init(_ handlers: [any CommandHandler] = [], admins: [String] = [], queued: [NewMessage] = []) async throws {
    scratch = try Scratch()
    archive = try Archive.open(path: scratch.file("archive.db")) { completions in
      EventLoop.main.post { completions() }
    }
    conversation = Conversation(try Conversation.options())
    gate = ArchiveGate(archive, scheduler: conversation.clock)
    var access = AccessPolicy()
    try access.add(admins.map { try AccessRule($0) }, toGroup: AccessPolicy.adminGroup)
    var table = CommandTable()
    let services = Builtins.Services(
      search: { [gate] query, found in gate.search(query, found) }, reload: { done in done(ReloadOutcome()) })
    for command in Builtins.all(services, access: access) + handlers.map({ Command($0) }) { _ = table.add(command) }
    var router = Router(commands: table, access: access, facts: BotFacts())
    router.rate = nil
    let now = now
    var memory = Memory()
    memory.queued = queued.count
    flow = MessageFlow(
      session: conversation.session, gate: gate, router: router, memory: memory,
      log: Logger(level: .trace, sink: recording), wallClock: { now })
    dispatcher = Dispatcher(hooks: flow.hooks())
    flow.attach(dispatcher)
    conversation.onMessage = { [weak self] in self?.flow.receive($0, as: $0.element, number: $1) }
    conversation.onAcknowledged = { [weak self] in self?.flow.outbox.acknowledged($0) }
    conversation.hidesConfirmations = true
    gate.onPressure = { [weak self] in self?.session.setReading(!$0) }
    gate.write { transaction throws(DatabaseError) in
      for row in queued { try transaction.insert(row) }
    }
    await settle()
  }

  /// As often as need be: the names of a script's values are new each time.
  func goOnline(settles: Bool = true) async throws {
    greetings += 1
    let script = Greeting.online.replacing("$", with: "$\(greetings)").replacing("$\(greetings)any", with: "$any")
    flow.online(.new)
    try conversation.play(script)
    flow.discovered()
    if settles { await settle() }
  }
  private var greetings = 0

  /// An online one.
  static func online(_ handlers: [any CommandHandler] = [], admins: [String] = []) async throws -> FlowBench {
    let bench = try await FlowBench(handlers, admins: admins)
    try await bench.goOnline()
    return bench
  }

  func play(_ script: String) throws { try conversation.play(script) }

  /// A contact writes; what was said is archived and acted upon when this returns.
  func receive(
    _ body: String, id: String, from: String = "alice@example.net/phone", type: String = "chat", more: String = ""
  ) async throws {
    try play(
      "server: <message from='\(from)' to='bot@example.org/r' type='\(type)' id='\(id)'><body>\(body)</body>\(more)</message>"
    )
    await settle()
  }

  /// The bot says `body`, and nothing after it.
  func expectAnswer(
    _ body: String, to: String = "alice@example.net/phone", more: String = "", delayed: String? = nil,
    moreFollowsOrigin: Bool = false
  ) throws {
    answers += 1
    let delay = delayed.map { "<delay xmlns='urn:xmpp:delay' from='bot@example.org' stamp='\($0)'/>" } ?? ""
    let body = body.replacing("\n", with: "&#10;")
    try play(
      """
      bot: <message type='chat' to='\(to)' id='$answer\(answers)-'><body>\(body)</body>\(moreFollowsOrigin ? "" : more)
       <origin-id xmlns='urn:xmpp:sid:0' id='$answer\(answers)-'/>\(moreFollowsOrigin ? more : "")\(delay)
       <request xmlns='urn:xmpp:receipts'/>
       <markable xmlns='urn:xmpp:chat-markers:0'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
  }
  private var answers = 0

  /// Lets the loop do what is due.
  func turnOnce() async { await withCheckedContinuation { next in EventLoop.main.post { next.resume() } } }

  /// The texts that the bot has sent on this stream.
  func sentBodies() -> [String] {
    let written = String(decoding: conversation.dialer.stream?.written ?? [], as: UTF8.self)
    return written.split(separator: "<body>").dropFirst().map { String($0.prefix { $0 != "<" }) }
  }

  /// `jid` is in the roster from now on.
  func befriend(_ jid: String, subscription: String = "both") throws {
    pushes += 1
    try play(
      """
      server: <iq type='set' id='push\(pushes)'><query xmlns='jabber:iq:roster'>
       <item jid='\(jid)' subscription='\(subscription)'/></query></iq>
      """)
    conversation.skip()
  }
  private var pushes = 0

  /// All that the bot has said and no script has looked at.
  func written() -> String { String(decoding: conversation.dialer.stream?.written ?? [], as: UTF8.self) }

  /// The bot has said these texts, and nothing else that has one.
  func skip(bodies: [String]) throws {
    #expect(sentBodies() == bodies)
    conversation.skip()
  }

  func element(_ xml: String) -> Element? {
    var found: Element?
    let parser = StreamParser()
    let text =
      "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>" + xml
    try? Array(text.utf8).withUnsafeBytes { buffer in
      try parser.parse(buffer) { event in if case .element(let element) = event { found = element } }
    }
    return found
  }

  func expectSilence() throws { try play("the bot says nothing") }

  /// Until nothing is under way to the archive, or done because of it.
  func settle() async {
    repeat {
      await withCheckedContinuation { continuation in
        gate.write { _ throws(DatabaseError) in
        } done: {
          continuation.resume()
        }
      }
    } while !gate.isIdle
  }

  /// All rows, oldest first.
  func rows() async throws -> [MessageRow] {
    try await withCheckedThrowingContinuation { continuation in
      archive.read(PageRead(ExportCursor(), size: .max)) { result in
        continuation.resume(with: result.map(\.rows))
      }
    }
  }

  /// The rows, as `< body` for what came and `> body (state)` for what went.
  func transcript() async throws -> [String] {
    try await rows().map { row in
      row.direction == .in ? "< \(row.body ?? "")" : "> \(row.body ?? "") (\(row.state.rawValue))"
    }
  }

  /// Keeps the database's thread busy until the barrier opens.
  func holdDisk() -> Barrier {
    let barrier = Barrier()
    archive.write { _ throws(DatabaseError) in
      barrier.wait()
    } completion: { _ in
    }
    return barrier
  }
}

extension String {
  func replacing(_ part: String, with other: String) -> String {
    split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
  }
}

/// A command that waits until the test lets it go on.
struct Slow: CommandHandler {
  /// What it says before it goes on.
  var saying: String?
  let description = CommandDescription(name: "slow", description: "Takes its time", allow: [.everyone])
  let gate = Gate()

  actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
      isOpen = true
      for continuation in waiting { continuation.resume() }
      waiting = []
    }

    func pass() async {
      if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }
  }

  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    await gate.pass()
    if let saying { reply(saying) }
    return "at last"
  }
}
