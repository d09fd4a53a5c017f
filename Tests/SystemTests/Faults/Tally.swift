import JSON

/// Every number accounted for: what the contact and the operator sent, against the rows of the bot's archive and what
/// the contact got.
///
/// The servers are the witnesses. A number is due when the contact's server confirmed it or the archive of the bot's
/// account on the server holds it; what the contact got is told apart by the ids that its archive on the server gave,
/// so that a message which came twice but was sent once counts once.
struct Tally {
  private(set) var sent = 0
  private(set) var archived = 0
  private(set) var answered = 0
  private(set) var duplicates = 0
  /// What must not be.
  private(set) var complaints: [String] = []
  /// What should be known but is not the bot's fault.
  private(set) var remarks: [String] = []

  init(_ run: FaultRun) throws {
    let contact = run.contact
    let witness = try Contact(run.bot.account, on: run.server, isSilent: true)
    let onServer = Self.counts(try witness.readArchive().others.compactMap(\.number))
    let archive = try contact.readArchive().others
    contact.takeIn()

    let rows = try run.bot.rows(
      """
      SELECT direction, state, thread, body FROM message WHERE peer = '\(contact.account.jid)' ORDER BY id
      """
    )
    let incoming = rows.filter { $0["direction"] == "in" }.compactMap(Self.number)
    incomingCounts(run, incoming, onServer)
    let arrivals = Self.once(archive + contact.arrivals)
    replies(run, Set(incoming), arrivals, rows.filter { $0["direction"] == "out" })
    says(run, arrivals)
  }

  /// Contact to bot: one row each, in order.
  private mutating func incomingCounts(_ run: FaultRun, _ incoming: [Int], _ onServer: [Int: Int]) {
    let due = run.contact.confirmed.union(onServer.keys)
    let counts = Self.counts(incoming)
    sent = due.count
    archived = counts.count
    let missing = due.filter { counts[$0] == nil }
    let lostByServer = run.serverMayLose ? missing.filter { onServer[$0] == nil } : []
    if !lostByServer.isEmpty { remarks.append("the server lost \(Self.list(lostByServer)) when it was killed") }
    complain("no row", missing.subtracting(lostByServer))
    let extra = counts.filter { $0.value > max(1, onServer[$0.key] ?? 1) }
    duplicates += extra.count
    complain("more than one row", Set(extra.keys))
    if incoming != incoming.sorted() { complaints.append("rows out of order: \(Self.disorder(incoming))") }
  }

  /// Bot to contact: exactly one reply to each row.
  private mutating func replies(_ run: FaultRun, _ asked: Set<Int>, _ arrivals: [Contact.Arrival], _ out: [JSON]) {
    let replies = Self.counts(arrivals.compactMap(\.number))
    answered = replies.count
    let missing = asked.filter { replies[$0] == nil }
    // What the server said it had is the server's to deliver.
    let acked = Set(out.filter { $0["state"] == "acked" }.compactMap(Self.number))
    let lostByServer = run.serverMayLose ? missing.intersection(acked) : []
    if !lostByServer.isEmpty { remarks.append("the server lost the replies to \(Self.list(lostByServer))") }
    complain("no reply", missing.subtracting(lostByServer))
    let extra = replies.filter { $0.value > 1 }
    duplicates += extra.count
    complain("more than one reply", Set(extra.keys))
    complain("a reply to what is not archived", Set(replies.keys).subtracting(asked))
    let pongs = arrivals.filter { $0.body.hasPrefix("pong ") }
    complain("a wrong reply", Set(pongs.filter { $0.body != "pong \($0.number ?? 0)" }.compactMap(\.number)))
    let order = pongs.compactMap(\.number)
    if order != order.sorted() { complaints.append("replies out of order: \(Self.disorder(order))") }
  }

  /// Operator to contact: what was accepted arrives once, what was refused at most once, in order.
  private mutating func says(_ run: FaultRun, _ arrivals: [Contact.Arrival]) {
    let order = arrivals.filter { $0.body.hasPrefix("say ") }.compactMap { Int($0.body.dropFirst(4)) }
    let counts = Self.counts(order)
    sent += run.operatorAccepted.count
    answered += counts.count
    complain("accepted by xmppbotctl, not arrived", run.operatorAccepted.filter { counts[$0] == nil })
    let extra = counts.filter { $0.value > 1 }
    duplicates += extra.count
    complain("arrived more than once from xmppbotctl", Set(extra.keys))
    if order != order.sorted() { complaints.append("sends out of order: \(Self.disorder(order))") }
  }

  private mutating func complain(_ what: String, _ numbers: Set<Int>) {
    if !numbers.isEmpty { complaints.append("\(what): \(Self.list(numbers))") }
  }

  private static func number(_ row: JSON) -> Int? {
    row["thread"]?.stringValue.flatMap { Int($0.dropFirst()) }
  }

  private static func counts(_ numbers: [Int]) -> [Int: Int] {
    Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +)
  }

  /// Those with an id once; a message without one counts as it is.
  private static func once(_ arrivals: [Contact.Arrival]) -> [Contact.Arrival] {
    var seen: Set<String> = []
    return arrivals.filter { $0.stanzaID == "-" || seen.insert($0.stanzaID).inserted }
  }

  private static func list(_ numbers: some Collection<Int>) -> String {
    let shown = numbers.sorted().prefix(8).map(String.init).joined(separator: " ")
    return numbers.count > 8 ? "\(numbers.count) (\(shown) …)" : shown
  }

  private static func disorder(_ numbers: [Int]) -> String {
    zip(numbers, numbers.dropFirst()).first { $0 > $1 }.map { "\($0) before \($1)" } ?? ""
  }
}
