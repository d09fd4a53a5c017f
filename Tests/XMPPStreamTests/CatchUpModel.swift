import JID
import XML
import XMPPStanzas
import XMPPStream

/// A server with an archive, a stream that breaks, and a client with a database, for `CatchUp` to run between them.
struct CatchUpModel {
  /// What is under way from the server to the client.
  private enum Stanza {
    case result(queryID: String, id: String)
    case fin(queryID: String, ArchiveFin)
    case error(queryID: String, StanzaError)
    case live(id: String?, text: String)
  }

  private var random: SeededRandom
  private let account: JID
  private let pageLimit: Int
  private let heldCount: Int
  private let partSize: Int

  // The server.
  private(set) var archive: [String] = []
  /// So many of the newest messages the archive can't tell yet, though they were delivered.
  private var lag = 0
  /// Messages of this stream.
  private var delivered = 0

  // The stream.
  private var isUp = false
  private var toServer: [ArchiveQuery] = []
  private var toClient: [Stanza] = []

  // The client.
  private var catchUp: CatchUp<(id: String?, text: String)>
  private var open: String?
  private var wantsRetry = false
  private var hasStored = false
  private var losses = 0
  private var starts = 0
  /// The archive's messages as the database has them; it knows those that come twice.
  private(set) var rows: [String] = []
  private var known: Set<String> = []
  /// Where the client began.
  let begin: Int
  /// Messages that no archive has, as they came and as they were taken.
  private(set) var passing: (sent: [String], taken: [String]) = ([], [])
  private(set) var problems: [String] = []

  init(_ random: SeededRandom) throws {
    self.random = random
    account = try JID("bot@example.org")
    pageLimit = .random(in: 1...7, using: &self.random)
    heldCount = .random(in: 0...12, using: &self.random)
    partSize = .random(in: 1...4, using: &self.random)
    for _ in 0..<Int.random(in: 0...40, using: &self.random) { archive.append(String(self.random.next(), radix: 36)) }
    begin = .random(in: 0...archive.count, using: &self.random)
    catchUp = CatchUp(archive: account, cursor: "")
    catchUp = newCatchUp()
  }

  private var cursor: String { rows.last ?? (begin == 0 ? "" : archive[begin - 1]) }

  private func newCatchUp() -> CatchUp<(id: String?, text: String)> {
    CatchUp(
      archive: account, cursor: cursor, pageSize: pageLimit + 1, heldCount: heldCount, heldBytes: 2 * heldCount,
      partSize: partSize)
  }

  /// Lets so much happen, with faults and without an end; then all that is still under way, in peace.
  mutating func run(steps: Int) throws {
    for _ in 0..<steps { try step(isQuiet: false) }
    lag = 0
    while !(isUp && catchUp.isOver && toClient.isEmpty) { try step(isQuiet: true) }
  }

  private mutating func step(isQuiet: Bool) throws {
    guard isUp else { return connect() }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<6 where !isQuiet: newMessage()
    case 6 where !isQuiet && losses < 4: lose()
    case 7..<10: answer(isQuiet: isQuiet)
    case 10 where wantsRetry:
      wantsRetry = false
      perform(catchUp.retry())
    case 11 where hasStored:
      hasStored = false
      perform(catchUp.stored())
    default: try deliver()
    }
  }

  // MARK: - The server

  private mutating func newMessage() {
    if random.happens(0.2) {
      let text = "p\(passing.sent.count)"
      passing.sent.append(text)
      toClient.append(.live(id: nil, text: text))
      return
    }
    let id = String(random.next(), radix: 36)
    archive.append(id)
    delivered += 1
    toClient.append(.live(id: id, text: id))
  }

  private mutating func answer(isQuiet: Bool) {
    guard !toServer.isEmpty else { return }
    let query = toServer.removeFirst()
    if !isQuiet, random.happens(0.1) {
      return toClient.append(.error(queryID: query.queryID, StanzaError(.wait, .resourceConstraint)))
    }
    // Never twice in a row, else it would be given up.
    lag = !isQuiet && lag == 0 && delivered > 0 && random.happens(0.3) ? 1 : 0
    let visible = archive.dropLast(lag)
    var from = 0
    if let after = query.page.after {
      guard let index = archive.firstIndex(of: after) else {
        return toClient.append(.error(queryID: query.queryID, StanzaError(.cancel, .itemNotFound)))
      }
      from = index + 1
    }
    let size = min(query.page.max ?? pageLimit, .random(in: 1...pageLimit, using: &random))
    let page = visible.dropFirst(from).prefix(size)
    for id in page { toClient.append(.result(queryID: query.queryID, id: id)) }
    var end = ResultSet()
    end.first = page.first
    end.last = page.last
    toClient.append(
      .fin(queryID: query.queryID, ArchiveFin(isComplete: page.endIndex >= visible.endIndex, page: end)))
  }

  // MARK: - The stream

  private mutating func connect() {
    // Messages come while nobody listens.
    while random.happens(0.5) { archive.append(String(random.next(), radix: 36)) }
    isUp = true
    delivered = 0
    starts += 1
    // A process that has caught up begins anew from what it has.
    if catchUp.isOver { catchUp = newCatchUp() }
    perform(catchUp.start(queryID: "s\(starts)"))
  }

  private mutating func lose() {
    isUp = false
    losses += 1
    passing.sent = passing.sent.filter { text in
      !toClient.contains { if case .live(nil, text) = $0 { true } else { false } }
    }
    toServer = []
    toClient = []
    wantsRetry = false
    open = nil
    catchUp.lost()
  }

  private mutating func deliver() throws {
    guard !toClient.isEmpty else { return }
    switch toClient.removeFirst() {
    case .live(let id, let text):
      perform(catchUp.live((id, text), stanzaID: id, size: .random(in: 1...9, using: &random)))
    case .result(let queryID, let id):
      guard queryID == open else { return }
      let message = Message(.chat, to: account, id: id)
      perform(
        catchUp.received(
          ArchivedMessage(
            archive: account, id: id, queryID: queryID, stamp: nil, message: message, element: message.element,
            isOwn: false)))
    case .fin(let queryID, let fin):
      perform(catchUp.finished(.success(fin), of: queryID))
    case .error(let queryID, let error):
      perform(catchUp.finished(.failure(error), of: queryID))
    }
  }

  // MARK: - The client

  private mutating func perform(_ actions: [CatchUp<(id: String?, text: String)>.Action]) {
    for action in actions {
      switch action {
      case .query(let query):
        open = query.queryID
        toServer.append(query)
      case .archive(let message): store(message.id)
      case .setCursor(let cursor): problems.append("cursor \(cursor)")
      case .release(let items):
        hasStored = true
        for item in items {
          if let id = item.id { store(id) } else { passing.taken.append(item.text) }
        }
      case .letGo: break
      case .retry: wantsRetry = true
      case .gap(let gap): problems.append("\(gap)")
      case .complete(let outcome): if !outcome.movesCursor { problems.append("\(outcome)") }
      }
    }
  }

  private mutating func store(_ id: String) {
    if known.insert(id).inserted { rows.append(id) }
  }
}
