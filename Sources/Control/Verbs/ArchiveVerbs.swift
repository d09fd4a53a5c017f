import Archive
import Configuration
import Daemon
import JSON

/// The verbs that read the archive: through the daemon while it runs, else from the file.
extension Verb {
  private static let filters: [ArgumentReader.Option] = [
    .init(name: "--with", value: "JID"), .init(name: "--room", value: "JID"), .init(name: "--since", value: "TIME"),
    .init(name: "--until", value: "TIME"), .init(name: "--limit", value: "N"),
  ]

  static let archiveSearch = Verb(
    path: ["archive", "search"],
    arguments: "WORDS… [--with JID] [--room JID] [--since TIME] [--until TIME] [--limit N]",
    summary: "Messages that hold all the words, newest first"
  ) { arguments, context throws(ControlFailure) in
    let (words, options) = try arguments.rest(filters, &context)
    var request = try filterRequest(options)
    request["verb"] = "archive-search"
    request["words"] = .string(words.joined(separator: " "))
    if request["limit"] == nil { request["limit"] = 50 }
    let writer = MessageWriter(context.json ? .jsonl : .txt)
    if let daemon = try context.daemonIfRunning() {
      _ = try daemon.ask(.object(request)) { row throws(ControlFailure) in writer.write(row) }
      return
    }
    let query: SearchQuery
    do throws(SearchQueryError) {
      query = try SearchQuery(words.joined(separator: " "))
    } catch {
      throw ControlFailure(.usage, error.description)
    }
    try read(context) { reader throws(ArchiveError) in
      try reader.search(query, MessageFilter(.object(request)), limit: request["limit"]?.intValue) { row in
        writer.write(row.json)
        return true
      }
    }
  }

  static let archiveExport = Verb(
    path: ["archive", "export"], arguments: "[--format jsonl|csv|txt] [--with JID] [--since TIME] …",
    summary: "All messages, oldest first"
  ) { arguments, context throws(ControlFailure) in
    let (words, options) = try arguments.rest(filters + [.init(name: "--format", value: "jsonl|csv|txt")], &context)
    try refuse(words, "archive export")
    let name = options["--format"] ?? "jsonl"
    guard let format = MessageWriter.Format(rawValue: name) else {
      throw ControlFailure(.usage, "'\(name)' is no format: jsonl, csv or txt")
    }
    var request = try filterRequest(options)
    request["verb"] = "archive-export"
    let writer = MessageWriter(format)
    let limit = request["limit"]?.intValue
    if let daemon = try context.daemonIfRunning() {
      _ = try daemon.ask(.object(request)) { row throws(ControlFailure) in writer.write(row, limit: limit) }
      return
    }
    try read(context) { reader throws(ArchiveError) in
      try reader.export(MessageFilter(.object(request))) { row in
        writer.write(row.json, limit: limit)
        return limit.map { writer.written < $0 } ?? true
      }
    }
  }

  static let archiveStatistics = Verb(
    path: ["archive", "stats"], arguments: "[--json]", summary: "How many messages, since when, how large"
  ) { arguments, context throws(ControlFailure) in
    try refuse(try arguments.rest([], &context).words, "archive stats")
    var statistics: JSON = .null
    if let daemon = try context.daemonIfRunning() {
      statistics = try daemon.ask(["verb": "archive-stats"])
    } else {
      try read(context) { reader throws(ArchiveError) in statistics = try reader.statistics().json }
    }
    if context.json { return print(statistics.text()) }
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

  private static func filterRequest(_ options: [String: String]) throws(ControlFailure) -> JSONObject {
    var request = JSONObject()
    request["with"] = options["--with"].map(JSON.string)
    request["room"] = options["--room"].map(JSON.string)
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

  private static func read(
    _ context: Context, _ body: (ArchiveReader) throws(ArchiveError) -> Void
  ) throws(ControlFailure) {
    let path = try context.settings().archive.path
    do throws(ArchiveError) {
      try body(try ArchiveReader.open(path: path))
    } catch {
      throw ControlFailure(.failed, error.description)
    }
  }
}
