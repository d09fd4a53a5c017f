import Glibc
import JSON
import Testing

/// One fault on one server: numbered messages run in both directions while it happens, and then every row and every
/// reply is accounted for.
final class FaultRun {
  let name: String
  let server: Server
  let bot: Bot
  let contact: Contact
  /// What the server itself loses when it is killed is not the bot's fault.
  var serverMayLose = false
  /// Commands may be answered with a text of another kind than "pong N", such as "interrupted".
  private(set) var longestOutage: Double?
  private(set) var row: FaultTable.Row
  private let sender: Operator
  private var runs = 0
  private var lastPing = 0
  private var lastSay = 0
  private var before: Footprint?

  /// Numbered messages that wait for an answer that is still to come, from the contact's command `slow`.
  private static let every = 10

  /// Carries out `body` and writes its row of the table, whatever comes of it.
  /// `prepare` may change the bot's configuration before it starts; `connect` says how it reaches the server.
  static func carryOut(
    _ name: String, on kind: Server.Kind, sections: String = "", prepare: (Bot) throws -> Void = { _ in },
    _ body: (FaultRun) throws -> Void
  ) throws {
    var run: FaultRun?
    do {
      let made = try FaultRun(name, on: kind, sections: sections)
      run = made
      try prepare(made.bot)
      try body(made)
    } catch {
      var row = run?.row ?? FaultTable.Row(fault: name, server: kind.rawValue, verdict: "")
      row.seconds = run?.longestOutage
      row.verdict = "FAILED: not carried out: \(String(describing: error).prefix { $0 != "\n" })"
      FaultTable.add(row)
      throw error
    }
  }

  private init(_ name: String, on kind: Server.Kind, sections: String) throws {
    self.name = name
    row = FaultTable.Row(fault: name, server: kind.rawValue, verdict: "")
    server = try Server.shared(kind)
    bot = try Bot(
      on: server,
      sections: """
        [limits]
        rate = unlimited
        concurrent = 64
        \(sections)
        """)
    try bot.addCommand("slow", "# allow: everyone\n/bin/sleep 0.3\necho \"slept $1\"")
    contact = try Contact(server.account("contact"), on: server, talkingTo: bot.account)
    sender = try Operator(of: bot, writingTo: contact.account)
  }

  // MARK: - What happens

  /// Starts the bot and waits until it is online.
  func start(environment: [String: String] = [:]) throws {
    try bot.startOnline(environment: environment)
    if before == nil, let pid = bot.program?.pid { before = try Footprint(of: pid) }
  }

  /// Both sides begin to send: the contact so many messages, `rate` a second (0: as fast as the server takes them), the
  /// operator a tenth as many.
  func send(_ count: Int, rate: Int = 100, says: Int? = nil) {
    let says = says ?? max(1, count / 10)
    contact.run(lastPing + 1...lastPing + count, rate: rate, every: Self.every)
    sender.run(lastSay + 1...lastSay + says, rate: max(5, rate / 10))
    lastPing += count
    lastSay += says
    runs += 1
  }

  /// Waits until the contact has sent so many more messages.
  func awaitSent(_ count: Int) throws {
    let goal = min(contact.sent.count + count, lastPing)
    try contact.waitUntil("\(goal) messages are sent") { $0.sent.count >= goal }
  }

  /// Waits until the contact has so many more answers.
  func awaitAnswered(_ count: Int) throws {
    let goal = min(contact.answered.count + count, lastPing)
    try contact.waitUntil("\(goal) messages are answered") { $0.answered.count >= goal }
  }

  /// Does something that ends the stream, and waits until the bot is online again. `limit`: the promise, in seconds;
  /// judged with as much again for a busy machine.
  func outage(limit: Double? = nil, within time: Duration = .seconds(120), _ cause: () throws -> Void) throws {
    bot.forgetLog()
    let begun = ContinuousClock.now
    try cause()
    try bot.awaitOnline(within: time)
    let seconds = begun.duration(to: .now) / .seconds(1)
    longestOutage = max(longestOutage ?? 0, seconds)
    if let limit, seconds > 2 * limit + 1 { complain("online again after \(seconds) s, promised are \(limit) s") }
  }

  // MARK: - What came of it

  private var complaints: [String] = []

  /// Adds to what the verdict will name.
  func complain(_ text: String) { complaints.append(text) }

  /// Waits until all that should arrive did, or nothing more does; then compares and writes the row.
  func finish(patience: Duration = .seconds(10)) throws {
    try settle(patience)
    let tally = try Tally(self)
    complaints += tally.complaints
    if try bot.rows("PRAGMA integrity_check") != [["integrity_check": "ok"]] { complaints.append("integrity_check") }
    if let before, let pid = bot.program?.pid, bot.program?.isRunning == true {
      if let growth = try Footprint(of: pid).growth(since: before) { complaints.append(growth) }
    }
    row.sent = tally.sent
    row.archived = tally.archived
    row.answered = tally.answered
    row.duplicates = tally.duplicates
    row.seconds = longestOutage
    row.verdict = complaints.isEmpty ? "passed" : "FAILED: " + complaints.joined(separator: "; ")
    if !tally.remarks.isEmpty { row.verdict += " (\(tally.remarks.joined(separator: "; ")))" }
    FaultTable.add(row)
    if !complaints.isEmpty {
      Issue.record(
        "\(name) on \(server.kind): \(complaints.joined(separator: "; "))\nThe bot: \(bot.log.suffix(6_000))")
    }
  }

  /// Waits until every number is answered and every send has ended, as long as something still happens.
  private func settle(_ patience: Duration) throws {
    var seen = -1
    while true {
      contact.takeIn()
      sender.takeIn()
      let isDone =
        contact.hasFinished(runs: runs) && sender.hasFinished(runs: runs) && contact.answered.count >= lastPing
        && contact.arrivals.count >= lastPing + sender.accepted.count
      if isDone { return }
      let now = contact.arrivals.count + contact.sent.count + sender.accepted.count + sender.refused.count
      if now == seen, !Deadline(after: patience).awaitReadable([contact.changes, sender.changes]) { return }
      seen = now
    }
  }

  var operatorAccepted: Set<Int> { sender.accepted }
  var operatorRefused: [Int: String] { sender.refused }
  /// How many numbers were to be sent.
  var numbers: Int { lastPing }
}
