import Daemon
import JSON
import Systemd

/// The verbs that the running daemon does.
extension Verb {
  static let roster = Verb(path: ["roster"], arguments: "[--json]", summary: "The bot's contacts") {
    arguments, context throws(ControlFailure) in
    try refuse(try arguments.rest([], &context).words, "roster")
    var table = Table(["ADDRESS", "SUBSCRIPTION", "GROUPS", "NAME"])
    let json = context.json
    _ = try context.daemon().ask(["verb": "roster"]) { row throws(ControlFailure) in
      if json { return print(row.text()) }
      let groups = row["groups"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ", ") ?? ""
      table.add([
        row["jid"]?.stringValue ?? "", row["subscription"]?.stringValue ?? "", groups, row["name"]?.stringValue ?? "",
      ])
    }
    if !json { table.print() }
  }

  static let commands = Verb(
    path: ["commands"], arguments: "[--json]", summary: "The commands, who may use them, whence they come"
  ) {
    arguments, context throws(ControlFailure) in
    try refuse(try arguments.rest([], &context).words, "commands")
    var table = Table(["COMMAND", "ALLOWED", "FROM", "DESCRIPTION"])
    let json = context.json
    let end = try context.daemon().ask(["verb": "commands"]) { row throws(ControlFailure) in
      if json { return print(row.text()) }
      let allow = row["allow"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ", ") ?? ""
      table.add([
        row["name"]?.stringValue ?? "", allow, row["origin"]?.stringValue ?? "", row["description"]?.stringValue ?? "",
      ])
    }
    if !json { table.print() }
    for refused in end["refused"]?.arrayValue ?? [] { Terminal.complain("refused: \(refused.stringValue ?? "")") }
  }

  static let reload = Verb(path: ["reload"], arguments: "", summary: "Read the configuration again") {
    arguments, context throws(ControlFailure) in
    try refuse(try arguments.rest([], &context).words, "reload")
    _ = try context.daemon().ask(["verb": "reload"])
  }

  static let logLevel = Verb(
    path: ["log-level"], arguments: "LEVEL", summary: "Change what is logged, until the next reload or restart"
  ) { arguments, context throws(ControlFailure) in
    let words = try arguments.rest([], &context).words
    let levels = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
    guard words.count == 1, let level = words.first else { throw ControlFailure(.usage, "name one level: \(levels)") }
    _ = try context.daemon().ask(["verb": "log-level", "level": .string(level)])
  }

  static let send = Verb(
    path: ["send"], arguments: "JID [TEXT | -] [--lines]", summary: "Send one message, or each line of the input"
  ) { arguments, context throws(ControlFailure) in
    let (words, options) = try arguments.rest([.init(name: "--lines")], &context)
    guard let to = words.first else { throw ControlFailure(.usage, "name a recipient: xmppbotctl send JID TEXT") }
    let text = words.dropFirst().joined(separator: " ")
    let fromInput = text.isEmpty || text == "-"
    let byLines = options["--lines"] != nil
    if byLines, !fromInput { throw ControlFailure(.usage, "--lines reads the input; leave the text out") }
    let daemon = try context.daemon()
    func send(_ text: String) throws(ControlFailure) {
      _ = try daemon.ask(["verb": "send", "to": .string(to), "text": .string(text)])
    }
    guard fromInput else { return try send(text) }
    if byLines {
      while let line = readLine() { if !line.isEmpty { try send(line) } }
    } else {
      var lines: [String] = []
      while let line = readLine() { lines.append(line) }
      let whole = lines.joined(separator: "\n")
      if whole.isEmpty { throw ControlFailure(.usage, "there is no text: the input is empty") }
      try send(whole)
    }
  }
}
