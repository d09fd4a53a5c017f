import Daemon
import JSON
import Systemd

/// The verbs that the running daemon does.
extension Verb {
  static let roster = Verb(path: ["roster"], summary: "The bot's contacts") { call throws(ControlFailure) in
    var table = Table(["ADDRESS", "SUBSCRIPTION", "GROUPS", "NAME"])
    _ = try call.daemon().ask(["verb": "roster"]) { row throws(ControlFailure) in
      if call.json { return print(row.text()) }
      let groups = row["groups"]?.arrayValue?.compactMap(\.stringValue).joined(separator: ", ") ?? ""
      table.add([
        row["jid"]?.stringValue ?? "", row["subscription"]?.stringValue ?? "", groups, row["name"]?.stringValue ?? "",
      ])
    }
    if !call.json { table.print() }
  }

  static let rooms = Verb(
    path: ["rooms"], summary: "The rooms that the bot is in, or is to be in",
    details: """
      STATE is joined, joining, offline (with the bot), or waiting: then the last column says why, and the room is tried
      again later. --json has the remedy, too.
      """
  ) { call throws(ControlFailure) in
    var table = Table(["ROOM", "NICK", "STATE", "OCCUPANTS", "SINCE", "SUBJECT"])
    _ = try call.daemon().ask(["verb": "rooms"]) { row throws(ControlFailure) in
      if call.json { return print(row.text()) }
      func text(_ key: String) -> String { row[key]?.stringValue ?? "" }
      table.add([
        text("room"), text("nick"), text("state"), row["occupants"]?.intValue.map(String.init) ?? "", text("since"),
        row["reason"]?.stringValue ?? text("subject"),
      ])
    }
    if !call.json { table.print() }
  }

  static let reload = Verb(
    path: ["reload"], summary: "Read the configuration again",
    details: """
      A configuration with faults changes nothing: they are listed, and the exit code is 78. Commands that can't be offered,
      and keys whose change waits for a restart, are named on standard error. A handler whose program was changed is started
      anew.
      """
  ) { call throws(ControlFailure) in
    let end = try call.daemon().ask(["verb": "reload"])
    complain(ofRefused: end)
    let later = end["restart"]?.arrayValue?.compactMap(\.stringValue) ?? []
    if !later.isEmpty {
      Terminal.complain("in force at the next restart only (\(call.restartCommand)): \(later.joined(separator: ", "))")
    }
  }

  /// Commands that are not offered, on standard error.
  static func complain(ofRefused end: JSON) {
    for refused in end["refused"]?.arrayValue ?? [] { Terminal.complain("refused: \(refused.stringValue ?? "")") }
  }

  static let logLevel = Verb(
    path: ["log-level"], arguments: "LEVEL", summary: "Change what is logged, until the next reload or restart"
  ) { call throws(ControlFailure) in
    guard call.words.count == 1, let level = call.words.first else {
      throw ControlFailure(.usage, "name one level: " + LogLevel.allCases.map(\.rawValue).joined(separator: ", "))
    }
    _ = try call.daemon().ask(["verb": "log-level", "level": .string(level)])
  }
}
