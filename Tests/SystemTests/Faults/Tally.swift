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

  private let run: FaultRun

  init(_ run: FaultRun) throws {
    self.run = run
    let witness = try Contact(run.bot.account, on: run.server, isSilent: true)
    let onServer = Self.counts(try witness.readArchive().others.compactMap(\.number).filter(isJudged))
    let archive = try run.contact.readArchive().others
    run.contact.takeIn()
    let rows = try run.bot.rows(
      """
      SELECT direction, state, thread, body FROM message
      WHERE peer = '\(run.contact.account.jid)' ORDER BY id
      """)
    let incoming = rows.filter { $0["direction"] == "in" }.compactMap(Self.number).filter(isJudged)
    judgeRows(incoming, onServer)
    // A message that was not archived came all the same.
    let known = Set(archive.map(\.stanzaID))
    let arrivals = archive + run.contact.arrivals.filter { !known.contains($0.stanzaID) }
    let acked = rows.filter { $0["direction"] == "out" && $0["state"] == "acked" }
    judgeReplies(Set(incoming), arrivals, acked: Set(acked.compactMap(Self.number)), order: archive)
    let ackedSays = acked.compactMap { $0["body"]?.stringValue }.compactMap(Contact.Arrival.saidNumber)
    judgeSays(arrivals, acked: Set(ackedSays), order: archive)
  }

  private func isJudged(_ number: Int) -> Bool { number > run.unjudged }

  /// Contact to bot: one row each, in order.
  private mutating func judgeRows(_ incoming: [Int], _ onServer: [Int: Int]) {
    let due = run.contact.confirmed.union(onServer.keys).filter(isJudged)
    let counts = Self.counts(incoming)
    sent = due.count
    archived = counts.count
    let missing = due.filter { counts[$0] == nil }
    let lostByServer = run.serverMayLose ? missing.filter { onServer[$0] == nil } : []
    if !lostByServer.isEmpty { remarks.append("the server lost \(Self.list(lostByServer))") }
    complain("no row", missing.subtracting(lostByServer))
    let extra = counts.filter { $0.value > max(1, onServer[$0.key] ?? 1) }
    duplicates += extra.count
    complain("more than one row", Set(extra.keys))
    complainOfOrder("rows", incoming)
  }

  /// Bot to contact: exactly one reply to each row.
  private mutating func judgeReplies(
    _ asked: Set<Int>, _ arrivals: [Contact.Arrival], acked: Set<Int>, order: [Contact.Arrival]
  ) {
    let replies = Self.counts(arrivals.compactMap(\.number).filter(isJudged))
    answered = replies.count
    let missing = asked.filter { replies[$0] == nil }
    // What the server said it had is the server's to deliver.
    let lostByServer = run.serverMayLose ? missing.intersection(acked) : []
    if !lostByServer.isEmpty { remarks.append("the server lost the replies to \(Self.list(lostByServer))") }
    complain("no reply", missing.subtracting(lostByServer))
    let extra = replies.filter { $0.value > 1 }
    duplicates += extra.count
    complain("more than one reply", Set(extra.keys))
    complain("a reply to what is not archived", Set(replies.keys).subtracting(asked))
    let pongs = arrivals.filter { $0.body.hasPrefix("pong ") }
    complain("a wrong reply", Set(pongs.filter { $0.body != "pong \($0.number ?? 0)" }.compactMap(\.number)))
    complainOfOrder("replies", order.filter { $0.body.hasPrefix("pong ") }.compactMap(\.number).filter(isJudged))
  }

  /// Operator to contact: what was accepted arrives once, what was refused at most once, in order.
  private mutating func judgeSays(_ arrivals: [Contact.Arrival], acked: Set<Int>, order: [Contact.Arrival]) {
    let accepted = run.sender.accepted.filter { $0 > run.unjudgedSays }
    let counts = Self.counts(arrivals.compactMap(\.saidNumber).filter { $0 > run.unjudgedSays })
    sent += accepted.count
    answered += counts.count
    let missing = accepted.filter { counts[$0] == nil }
    let lostByServer = run.serverMayLose ? missing.intersection(acked) : []
    if !lostByServer.isEmpty { remarks.append("the server lost what xmppbotctl sent: \(Self.list(lostByServer))") }
    complain("accepted by xmppbotctl, not arrived", missing.subtracting(lostByServer))
    let extra = counts.filter { $0.value > 1 }
    duplicates += extra.count
    complain("arrived more than once from xmppbotctl", Set(extra.keys))
    complainOfOrder("sends", order.compactMap(\.saidNumber).filter { $0 > run.unjudgedSays })
  }

  private mutating func complain(_ what: String, _ numbers: Set<Int>) {
    if !numbers.isEmpty { complaints.append("\(what): \(Self.list(numbers))") }
  }

  private mutating func complainOfOrder(_ what: String, _ numbers: [Int]) {
    if let (first, second) = zip(numbers, numbers.dropFirst()).first(where: { $0 > $1 }) {
      let text = "\(what) out of order: \(first) before \(second)"
      if run.serverMayReorder { remarks.append(text) } else { complaints.append(text) }
    }
  }

  private static func number(_ row: JSON) -> Int? {
    row["thread"]?.stringValue.flatMap { Int($0.dropFirst()) }
  }

  private static func counts(_ numbers: [Int]) -> [Int: Int] {
    Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +)
  }

  private static func list(_ numbers: some Collection<Int>) -> String {
    let shown = numbers.sorted().prefix(8).map(String.init).joined(separator: " ")
    return numbers.count > 8 ? "\(numbers.count) (\(shown) …)" : shown
  }
}
