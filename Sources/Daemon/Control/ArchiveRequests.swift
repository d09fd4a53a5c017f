import Archive
import EventLoop
import JSON
import XMPPStanzas

/// What xmppbotctl asks of the archive while the daemon runs, for exactly one process opens it for writing.
extension Daemon {
  func serveSearch(_ request: JSON, _ client: ControlClient) {
    do {
      let query = try ArchiveSearch(request["words"]?.stringValue ?? "")
      page(SearchCursor(query, MessageFilter(request), limit: request["limit"]?.intValue), client)
    } catch {
      client.fail(.usage, error.description)
    }
  }

  func serveExport(_ request: JSON, _ client: ControlClient) {
    page(ExportCursor(MessageFilter(request)), limit: request["limit"]?.intValue, client)
  }

  /// Sends page after page, each when the one before has been taken.
  func page(_ cursor: some MessageCursor, limit: Int? = nil, _ client: ControlClient) {
    let read = gate.archive.read(PageRead(cursor, size: 200)) { [weak self] result in
      LoopActor.assumeIsolated {
        client.whenGone = nil
        switch result {
        case .failure(let error): client.fail(error.exitCode, error.description)
        case .success(let page):
          let rows = page.rows.prefix(max(0, limit ?? .max))
          client.send(rows: rows.map(\.json))
          let left = limit.map { $0 - rows.count }
          guard let next = page.next, left ?? 1 > 0 else { return client.finish() }
          client.whenDrained { self?.page(next, limit: left, client) }
        }
      }
    }
    // A page may be a long time in coming, and nobody is there to take it.
    client.whenGone = { read.cancel() }
  }

  func serveStatistics(_ client: ControlClient) {
    let read = gate.archive.read(StatisticsRead()) { result in
      LoopActor.assumeIsolated {
        client.whenGone = nil
        switch result {
        case .failure(let error): client.fail(error.exitCode, error.description)
        case .success(let statistics): client.finish(statistics.json)
        }
      }
    }
    client.whenGone = { read.cancel() }
  }
}

extension MessageFilter {
  /// The filter that a request describes; times are microseconds since 1970.
  public init(_ request: JSON) {
    self.init(
      peer: request["with"]?.stringValue, room: request["room"]?.stringValue,
      since: request["since"]?.intValue.map(Int64.init), until: request["until"]?.intValue.map(Int64.init))
  }
}
