import JID
import XML
import XMPPStanzas
import XMPPStream

/// Plays the archive to a `CatchUp`, and keeps what it did, a line each. Live messages are texts.
struct CatchUpDialogue {
  var machine: CatchUp<String>
  private var queryID = ""
  private let account: JID

  init(
    cursor: String?, newest: String? = nil, heldCount: Int = 100, heldBytes: Int = 1_000,
    partSize: Int = 100, archive: String = "bot@example.org", most: Int? = nil
  ) throws {
    account = try JID(archive)
    machine = CatchUp(
      archive: account, cursor: cursor, newest: newest.flatMap(Timestamp.parse), pageSize: 2, heldCount: heldCount,
      heldBytes: heldBytes, partSize: partSize, most: most)
  }

  mutating func start(now: Int64? = nil) -> [String] { note(machine.start(queryID: "q", now: now)) }
  mutating func retry() -> [String] { note(machine.retry()) }
  mutating func giveUp(_ reason: String) -> [String] { note(machine.giveUp(reason)) }
  mutating func stored() -> [String] { note(machine.stored()) }

  mutating func live(_ text: String, id: String? = nil, size: Int = 1) -> [String] {
    note(machine.live(text, stanzaID: id, size: size))
  }

  /// A page with these results, of which those in brackets don't pass the gate. `last` nil: the last one of them.
  mutating func page(
    _ ids: String..., last: String? = nil, complete: Bool = false, stable: Bool = true, stamp: Int64? = nil
  ) throws -> [String] {
    var lines: [String] = []
    for id in ids where !id.hasPrefix("(") { lines += try result(id, stamp: stamp) }
    var set = Element("set", Namespace.resultSet)
    if let last = last ?? ids.last?.filter({ !"()".contains($0) }) {
      set.append(Element("first", Namespace.resultSet, text: ids.first?.filter { !"()".contains($0) } ?? ""))
      set.append(Element("last", Namespace.resultSet, text: last))
    }
    var fin = ArchiveFin(isComplete: complete, isStable: stable, page: ResultSet(set) ?? ResultSet())
    if last == "none" { fin.page.last = nil }
    return lines + note(machine.finished(.success(fin), of: queryID))
  }

  mutating func result(_ id: String, queryID: String? = nil, archive: String? = nil, stamp: Int64? = nil) throws
    -> [String]
  {
    note(
      machine.received(
        ArchivedMessage(
          archive: try archive.map { try JID($0) } ?? account, id: id, queryID: queryID ?? self.queryID, stamp: stamp,
          message: Message(.chat, to: account, id: id), element: Element("message", Namespace.client), isOwn: false)))
  }

  mutating func fail(_ kind: StanzaError.Kind, _ condition: StanzaError.Condition) -> [String] {
    note(machine.finished(.failure(StanzaError(kind, condition)), of: queryID))
  }

  private mutating func note(_ actions: [CatchUp<String>.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .query(let query):
        queryID = query.queryID
        let part =
          query.page.before.map { "before '\($0)'" } ?? query.page.after.map { "after \($0)" } ?? "from the beginning"
        let since = query.start.map { " since \(Timestamp.format($0, wholeSeconds: true))" } ?? ""
        return "query \(query.queryID): \(query.page.max ?? 0) \(part)\(since)"
      case .archive(let message): return "archive \(message.id)"
      case .setCursor(let cursor): return "cursor '\(cursor)'"
      case .release(let items): return "release \(items.joined(separator: " "))"
      case .letGo(let item): return "let go \(item)"
      case .retry(let delay): return "retry after \(delay)"
      case .gap(let gap): return "gap: \(gap)"
      case .complete(let outcome): return "complete: \(outcome)"
      }
    }
  }
}
