import JSON

/// A contact that sends numbered messages and notes what comes back (Tests/Servers/contact.py).
final class Contact {
  /// A message from the bot.
  struct Arrival {
    /// Given by the archive of the contact's server: one that comes twice with one id was sent once.
    let stanzaID: String
    /// The number that it answers; nil when it is no answer.
    let number: Int?
    let body: String

    var saidNumber: Int? { Self.saidNumber(body) }

    static func saidNumber(_ body: String) -> Int? { body.hasPrefix("say ") ? Int(body.dropFirst(4)) : nil }
  }

  let account: Account
  private let program: Program
  private let scratch: Scratch
  private(set) var sent: Set<Int> = []
  /// The server has these.
  private(set) var confirmed: Set<Int> = []
  /// What came, each once, in the order in which it came.
  private(set) var arrivals: [Arrival] = []
  /// Numbers of the operator's that came.
  private(set) var said: Set<Int> = []
  private var seen: Set<String> = []
  /// Numbers that were answered.
  private(set) var answered: Set<Int> = []
  private(set) var bounced = 0
  private var connections = 0
  private var finishedRuns = 0
  private var flushes = 0
  private var archive: (own: [Arrival], others: [Arrival]) = ([], [])
  private var hasArchive = false

  /// Logs in. `isSilent`: without presence, to read the account's archive only.
  init(_ account: Account, on server: Server, talkingTo bot: Account? = nil, isSilent: Bool = false) throws {
    self.account = account
    scratch = try Scratch()
    program = try Program(
      [
        Server.scripts + "/contact.py", "--host", server.host, "--port", server.directPort, "--ca", server.authority,
      ] + (isSilent ? ["--silent"] : []) + [account.jid, account.password],
      output: scratch.file("events"), errors: scratch.file("errors"))
    if let bot { program.write("bot \(bot.jid)") }
    try waitUntil("it is connected") { $0.connections > 0 }
  }

  /// Readable when there may be news.
  var changes: Int32 { program.output.changes }

  /// Sends "ping N" for each number, `rate` a second (0: as fast as it goes); each `every`-th is "slow N".
  func run(_ numbers: ClosedRange<Int>, rate: Int, every: Int) {
    program.write("run \(numbers.lowerBound) \(numbers.upperBound) \(rate) \(every) slow")
  }

  func tell(_ line: String) { program.write(line) }

  /// All that `run` was to send is sent.
  func hasFinished(runs: Int) -> Bool { finishedRuns >= runs }

  /// Sends a stanza so many times, with {n} replaced by its number, until the server has them all.
  func `repeat`(_ count: Int, _ xml: String, within time: Duration = .seconds(120)) throws {
    let before = flushes
    program.write("repeat \(count) \(xml)")
    try waitUntil("\(count) stanzas are with the server", within: time) { $0.flushes > before }
  }

  /// The messages in the account's archive on the server, in its order: the account's own, and those of others.
  func readArchive() throws -> (own: [Arrival], others: [Arrival]) {
    archive = ([], [])
    hasArchive = false
    program.write("archive")
    try waitUntil("its archive is read", within: .seconds(Faults.size(120, 900))) { $0.hasArchive }
    return archive
  }

  /// Waits for the program's lines until `holds`.
  func waitUntil(_ what: String, within time: Duration = .seconds(60), until holds: (Contact) -> Bool) throws {
    let deadline = Deadline(after: time)
    while true {
      let isRunning = program.isRunning
      takeIn()
      if holds(self) { return }
      guard isRunning, deadline.awaitReadable([program.output.changes, program.descriptor]) else {
        throw Problem("the contact waits until \(what).\n\(contents(of: scratch.file("errors")).suffix(2_000))")
      }
    }
  }

  /// Takes in what has happened.
  func takeIn() {
    for line in program.output.takeAll() {
      let words = line.split(separator: " ", maxSplits: 1)
      let rest = words.count > 1 ? words[1] : ""
      switch words.first {
      case "sent": Int(rest).map { _ = sent.insert($0) }
      case "confirmed": Int(rest).map { _ = confirmed.insert($0) }
      case "connected": connections += 1
      case "ran": finishedRuns += 1
      case "flushed": flushes += 1
      case "bounced": bounced += 1
      case "archive-end": hasArchive = true
      case "arrived":
        guard let arrival = Self.arrival(rest), seen.insert(arrival.stanzaID).inserted else { continue }
        // One that the server archives not at all has nothing that tells it from others.
        if arrival.stanzaID == "-" { seen.remove("-") }
        arrivals.append(arrival)
        if let number = arrival.saidNumber { said.insert(number) }
        if let number = arrival.number { answered.insert(number) }
      case "archived":
        guard let arrival = Self.arrival(rest.drop { $0 != " " }.dropFirst()) else { continue }
        if rest.hasPrefix("out ") { archive.own.append(arrival) } else { archive.others.append(arrival) }
      default: break
      }
    }
  }

  /// ID THREAD BODY, with the body as JSON.
  private static func arrival(_ text: Substring) -> Arrival? {
    let fields = text.split(separator: " ", maxSplits: 2)
    guard fields.count == 3, let body = try? JSON(parsing: Array(fields[2].utf8)).stringValue else { return nil }
    return Arrival(stanzaID: String(fields[0]), number: Int(fields[1].dropFirst()), body: body)
  }
}
