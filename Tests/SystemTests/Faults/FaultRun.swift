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
  /// The server may deliver in another order than it took messages in. ejabberd does so when a session is resumed: what
  /// comes meanwhile it delivers before what still lies with the old connection.
  var serverMayReorder: Bool
  /// Numbers up to this one, and the operator's up to `judgedSaysFrom`, went through something that nobody promises to
  /// survive.
  private(set) var unjudged = 0
  private(set) var unjudgedSays = 0
  private(set) var row: FaultTable.Row
  let sender: Operator
  private var longestOutage: Double?
  private var complaints: [String] = []
  private var runs = 0
  private var senderRuns = 0
  private(set) var lastPing = 0
  private var lastSay = 0
  private var before: Footprint?
  private var kept: [AnyObject] = []

  /// Each so manyth message asks for a program that takes a while, so that answers become ready during the fault.
  private static let every = 10

  /// Carries out `body`, which starts the bot and ends with `finish`, and writes the row of the table whatever comes of it.
  /// `concurrent`: how many commands may run at once.
  static func carryOut(
    _ name: String, on kind: Server.Kind, concurrent: Int = 64, sections: String = "",
    _ body: (FaultRun) throws -> Void
  ) throws {
    var run: FaultRun?
    do {
      let made = try FaultRun(name, on: kind, concurrent, sections)
      run = made
      try body(made)
    } catch {
      var row = run?.row ?? FaultTable.Row(fault: name, server: kind.rawValue, verdict: "")
      row.seconds = run?.longestOutage
      row.sent = run?.contact.sent.count ?? 0
      row.answered = run?.contact.answered.count ?? 0
      let reasons = (run?.complaints ?? []) + [String(String(describing: error).prefix { $0 != "\n" })]
      row.verdict = "FAILED: not carried out to its end: \(reasons.joined(separator: "; "))"
      FaultTable.add(row)
      FaultTable.keep(run?.bot.log ?? "", of: row)
      throw error
    }
  }

  private init(_ name: String, on kind: Server.Kind, _ concurrent: Int, _ sections: String) throws {
    self.name = name
    row = FaultTable.Row(fault: name, server: kind.rawValue, verdict: "")
    server = try Server.shared(kind)
    serverMayReorder = kind == .ejabberd
    bot = try Bot(
      on: server,
      sections: """
        [limits]
        rate = unlimited
        concurrent = \(concurrent)
        [log]
        xml = \(Faults.logsXML ? "yes" : "no")
        level = \(Faults.logsXML ? "trace" : "info")
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
    contact.run(lastPing + 1...lastPing + count, rate: rate, every: Self.every)
    lastPing += count
    runs += 1
    let says = says ?? max(1, count / 10)
    guard says > 0 else { return }
    sender.run(lastSay + 1...lastSay + says, rate: max(5, rate / 10))
    lastSay += says
    senderRuns += 1
  }

  /// Waits until the contact has sent so many more messages.
  func awaitSent(_ count: Int) throws {
    contact.takeIn()
    let goal = min(contact.sent.count + count, lastPing)
    try contact.waitUntil("\(goal) messages are sent") { $0.sent.count >= goal }
  }

  /// Waits until the contact has so many more answers.
  func awaitAnswered(_ count: Int) throws {
    contact.takeIn()
    let goal = min(contact.answered.count + count, lastPing)
    try contact.waitUntil("\(goal) messages are answered") { $0.answered.count >= goal }
  }

  /// Does something that ends the stream, and waits until the bot is online again. `limit`: the promise, in seconds;
  /// judged with as much again, and a second, for a busy machine.
  func outage(limit: Double? = nil, within time: Duration = .seconds(120), _ cause: () throws -> Void) throws {
    bot.forgetLog()
    let begun = ContinuousClock.now
    try cause()
    try bot.awaitOnline(within: time)
    let seconds = begun.duration(to: .now) / .seconds(1)
    longestOutage = max(longestOutage ?? 0, seconds)
    if let limit, seconds > 2 * limit + 1 { complain("online again after \(seconds) s, promised are \(limit) s") }
  }

  /// What was sent until now is not judged; to be called when it has been dealt with.
  func forgive() {
    unjudged = lastPing
    unjudgedSays = lastSay
  }

  /// Keeps a part of the set-up alive as long as the run.
  func keep(_ part: AnyObject) { kept.append(part) }

  /// Adds to what the verdict will name.
  func complain(_ text: String) { complaints.append(text) }

  func require(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { complain(text()) }
  }

  // MARK: - What came of it

  /// Waits until all that should arrive did, or nothing more does; then compares and writes the row. `maximum`: how much
  /// memory may have grown, in KiB.
  func finish(patience: Duration = Faults.patience, growth maximum: Int = Footprint.usualGrowth) throws {
    try settle(patience)
    // What comes in order comes before the answer to one more: no duplicate is still on its way.
    send(1, rate: 0, says: 0)
    try contact.waitUntil("one more message is answered", within: .seconds(Faults.size(60, 300))) { [lastPing] in
      $0.answered.contains(lastPing)
    }
    try awaitNothingUnderWay(patience)
    let tally = try Tally(self)
    complaints += tally.complaints
    if try bot.rows("PRAGMA integrity_check") != [["integrity_check": "ok"]] { complaints.append("integrity_check") }
    if let growth = try growth(maximum) { complaints.append(growth) }
    row.sent = tally.sent
    row.archived = tally.archived
    row.answered = tally.answered
    row.duplicates = tally.duplicates
    row.seconds = longestOutage
    row.verdict = complaints.isEmpty ? "passed" : "FAILED: " + complaints.joined(separator: "; ")
    if !tally.remarks.isEmpty { row.verdict += " (\(tally.remarks.joined(separator: "; ")))" }
    FaultTable.add(row)
    if !complaints.isEmpty || Faults.logsXML { FaultTable.keep(bot.log, of: row) }
    if !complaints.isEmpty {
      let refusals = sender.refused.sorted { $0.key < $1.key }.map { "say \($0.key): \($0.value)" }
      Issue.record(
        """
        \(name) on \(server.kind): \(complaints.joined(separator: "; "))
        \(refusals.joined(separator: "\n"))
        The bot: \(bot.log.suffix(6_000))
        """)
    }
  }

  /// What has grown by more than a process in use may. Memory goes back when the bot has had a moment of rest.
  private func growth(_ maximum: Int) throws -> String? {
    guard let before, let pid = bot.program?.pid, bot.program?.isRunning == true else { return nil }
    let deadline = Deadline(after: .seconds(5))
    while true {
      let growth = try Footprint(of: pid).growth(since: before, maximum)
      if growth == nil || deadline.hasPassed { return growth }
      _ = Deadline(after: .milliseconds(250)).awaitReadable([])
    }
  }

  /// Waits until every number is answered and every send has ended, as long as something still happens.
  func settle(_ patience: Duration = Faults.patience) throws {
    var seen = -1
    while true {
      contact.takeIn()
      sender.takeIn()
      let isDone =
        contact.hasFinished(runs: runs) && sender.hasFinished(runs: senderRuns) && contact.answered.count >= lastPing
        && sender.accepted.isSubset(of: contact.said)
      if isDone { return }
      let now = contact.arrivals.count + contact.sent.count + sender.accepted.count + sender.refused.count
      if now == seen, !Deadline(after: patience).awaitReadable([contact.changes, sender.changes]) { return }
      seen = now
    }
  }

  /// Waits until the bot knows of each message what became of it, as long as it learns more: "queued" and "sent" are never
  /// the last word.
  private func awaitNothingUnderWay(_ patience: Duration) throws {
    var left = Int.max
    while true {
      let deadline = Deadline(after: patience)
      let before = left
      repeat {
        let row = try bot.rows(
          "SELECT count(*) AS n FROM message WHERE direction = 'out' AND state IN ('queued', 'sent')")
        left = row.first?["n"]?.intValue ?? 0
        // The contact hears nothing of it: this looks again four times a second.
        _ = Deadline(after: .milliseconds(250)).awaitReadable([])
      } while left > 0 && left >= before && !deadline.hasPassed
      if left == 0 { return }
      if left >= before { return complain("still queued or sent: \(left)") }
    }
  }
}
