import Archive
import Configuration
import Daemon
import JID
import JSON

/// The verbs that read the archive: through the daemon while it runs, else from the file.
extension Verb {
  private static let filters = [
    Option("--with", "JID", "only the conversation with this contact"),
    Option("--room", "JID", "only what was said in this room"),
    Option("--since", "TIME", "from then on: 2026-01-31, 2026-01-31T17:05 (UTC), or so long ago: 30m, 2h, 7d"),
    Option("--until", "TIME", "before then"), Option("--limit", "N", "at most so many"),
  ]

  static let archiveSearch = Verb(
    path: ["archive", "search"], arguments: "WORDS…", options: filters,
    summary: "Messages that hold all the words, newest first",
    details: "Words in double quotes must follow each other. At most 50 unless --limit says otherwise."
  ) { call throws(ControlFailure) in
    let words = call.words.joined(separator: " ")
    let query: SearchQuery
    do throws(SearchQueryError) {
      query = try SearchQuery(words)
    } catch {
      throw ControlFailure(.usage, error.description)
    }
    var request = try filterRequest(call.options)
    request["verb"] = "archive-search"
    request["words"] = .string(words)
    if request["limit"] == nil { request["limit"] = 50 }
    let daemon = try call.daemonIfRunning()
    let writer = MessageWriter(call.json ? .jsonl : .txt)
    if let daemon {
      _ = try daemon.ask(.object(request)) { row throws(ControlFailure) in writer.write(row) }
      return
    }
    try call.readArchive { reader throws(ArchiveError) in
      try reader.search(query, MessageFilter(.object(request)), limit: request["limit"]?.intValue) { row in
        writer.write(row.json)
        return true
      }
    }
  }

  static let archiveExport = Verb(
    path: ["archive", "export"],
    options: [Option("--format", "FORMAT", "jsonl (default), csv or txt")] + filters,
    summary: "All messages, oldest first"
  ) { call throws(ControlFailure) in
    let name = call.options["--format"] ?? "jsonl"
    guard let format = MessageWriter.Format(rawValue: name) else {
      let formats = MessageWriter.Format.allCases.map(\.rawValue)
      let hint = nearest(to: name, in: formats).map { "did you mean \($0)?" } ?? formats.joined(separator: ", ")
      throw ControlFailure(.usage, "'\(name)' is no format: \(hint)")
    }
    var request = try filterRequest(call.options)
    request["verb"] = "archive-export"
    var left = request["limit"]?.intValue ?? .max
    let progress = ProgressLine("exporting", json: false, besideOutput: true)
    if let daemon = try call.daemonIfRunning() {
      let newest = try call.daemon().ask(["verb": "status"])["messages"]?.intValue ?? 0
      let writer = MessageWriter(format)
      _ = try daemon.ask(.object(request)) { row throws(ControlFailure) in
        writer.write(row)
        if newest > 0 { progress.show(100 * (row["id"]?.intValue ?? 0) / newest) }
      }
      return
    }
    try call.readArchive { reader throws(ArchiveError) in
      let writer = MessageWriter(format)
      let newest = (try? reader.queries.newestID()) ?? 0
      try reader.export(MessageFilter(.object(request))) { row in
        writer.write(row.json)
        progress.show(Int(100 * row.id / max(1, newest)))
        left -= 1
        return left > 0
      }
    }
  }

  static let archiveStatistics = Verb(
    path: ["archive", "stats"], summary: "How many messages, since when, how large"
  ) { call throws(ControlFailure) in
    var statistics: JSON = .null
    if let daemon = try call.daemonIfRunning() {
      statistics = try daemon.ask(["verb": "archive-stats"])
    } else {
      try call.readArchive { reader throws(ArchiveError) in statistics = try reader.statistics().json }
    }
    if call.json { return print(statistics.text()) }
    print("\(statistics["messages"]?.intValue ?? 0) messages, \(statistics["file_bytes"]?.intValue ?? 0) bytes")
    var table = Table(["DIRECTION", "KIND", "COUNT", "FIRST", "LAST"])
    for line in statistics["kinds"]?.arrayValue ?? [] {
      table.add([
        line["direction"]?.stringValue ?? "", line["kind"]?.stringValue ?? "", "\(line["count"]?.intValue ?? 0)",
        line["first"]?.stringValue ?? "", line["last"]?.stringValue ?? "",
      ])
    }
    table.print()
  }

  /// The filters as the daemon takes them: addresses as the archive has them, times in microseconds.
  static func filterRequest(_ options: [String: String]) throws(ControlFailure) -> JSONObject {
    var request = JSONObject()
    for key in ["with", "room"] {
      guard let text = options["--" + key] else { continue }
      do throws(JIDError) {
        request[key] = .string(try JID(text).bare.description)
      } catch {
        throw ControlFailure(.usage, "--\(key) \(text): no address: \(error)")
      }
    }
    for key in ["since", "until"] {
      guard let text = options["--" + key] else { continue }
      guard let time = TimeArgument.parse(text, now: TimeArgument.now()) else {
        throw ControlFailure(.usage, "--\(key) \(text): write 2026-01-31, 2026-01-31T17:05, or how long ago: 2h, 7d")
      }
      request[key] = .int(Int(time))
    }
    if let text = options["--limit"] {
      guard let limit = Int(text), limit > 0 else {
        throw ControlFailure(.usage, "--limit \(text): write a number above 0")
      }
      request["limit"] = .int(limit)
    }
    return request
  }
}
