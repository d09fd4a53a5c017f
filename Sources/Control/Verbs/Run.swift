import Daemon
@preconcurrency import Glibc
import JSON

extension Verb {
  /// Who asks in a room.
  static let roomOptions = [
    Option("--room", "JID", "as if it were said in this room"),
    Option("--affiliation", "WORD", "what they are in the room: owner, admin, member or none"),
    Option("--role", "WORD", "what they are there now: moderator, participant or visitor"),
  ]

  static let run = Verb(
    path: ["run"], arguments: "COMMAND [ARGS…]",
    options: [Option("--from", "JID", "who is to have sent the command", isRequired: true)] + roomOptions,
    summary: "Try a command out as a contact would",
    details: """
      The daemon runs it with the same rights, limits and environment, and what the contact would see is printed as it
      comes; nothing is sent or archived. What a program writes to standard error comes out there. Words that begin with -
      go behind --. Ctrl-C stops the command. Exit code 0: done; 1: failed; 2: there is no such command, or its arguments
      are wrong; 5: the contact may not use it; 6: it took too long.
      """
  ) { call throws(ControlFailure) in
    guard let command = call.words.first else {
      throw ControlFailure(.usage, "name a command: xmppbotctl run COMMAND --from JID")
    }
    guard call.options["--from"] != nil else {
      throw ControlFailure(.usage, "say who is to have sent it: xmppbotctl run \(command) --from JID")
    }
    let arguments = call.words.dropFirst().map(JSON.string)
    let request = call.request("run", ["from"], ["command": .string(command), "arguments": .array(Array(arguments))])
    _ = try call.daemon().ask(request) { row throws(ControlFailure) in
      if call.json { print(row.text()) } else { show(row, command) }
      // It is to be seen when it comes, by whoever reads a pipe, too.
      fflush(stdout)
    }
  }

  private static func show(_ row: JSON, _ command: String) {
    if let text = row["reply"]?.stringValue {
      print(Terminal.safeLines(text))
    } else if let text = row["edit"]?.stringValue {
      print("(instead of the last message:)\n" + Terminal.safeLines(text))
    } else if let text = row["progress"]?.stringValue {
      print("(so far:)\n" + Terminal.safeLines(text))
    } else if let name = row["upload"] {
      let size = row["bytes"]?.intValue.map { ", \($0) bytes" } ?? ""
      print(Terminal.safe("(a file: \(name.stringValue ?? command)\(size)) \(row["caption"]?.stringValue ?? "")"))
    } else if let emoji = row["react"]?.arrayValue {
      let shown = emoji.compactMap(\.stringValue).joined(separator: " ")
      print(Terminal.safe(shown.isEmpty ? "(takes its reaction back)" : "(reacts with \(shown))"))
    } else if let options = row["choices"]?.arrayValue {
      print(
        "(an answer of 1 to \(options.count), or of its text, runs \(command) again with:)\n"
          + Terminal.safeLines(options.compactMap(\.stringValue).joined(separator: "\n")))
    } else if let line = row["log"]?.stringValue {
      fflush(stdout)
      Terminal.complain("\(command): \(line)")
    } else {
      print(Terminal.safe(row.text()))
    }
  }

  static let commands = Verb(
    path: ["commands"], options: [Option("--for", "JID", "what this contact may use, and by which rule")] + roomOptions,
    summary: "The commands, who may use them and why, where they come from",
    details: """
      Under the table stand the members of the groups. Commands that are not offered are named on standard error, with the
      reason and the remedy.
      """
  ) { call throws(ControlFailure) in
    let isForOne = call.options["--for"] != nil
    if !isForOne, let option = roomOptions.first(where: { call.options[$0.name] != nil }) {
      throw ControlFailure(.usage, "\(option.name) goes with --for JID")
    }
    var table = Table(
      isForOne ? ["COMMAND", "MAY USE IT", "BY", "FROM"] : ["COMMAND", "ALLOWED", "FROM", "DESCRIPTION"])
    let end = try call.daemon().ask(call.request("commands", ["for"])) { row throws(ControlFailure) in
      if call.json { print(row.text()) } else { table.add(isForOne ? rights(row) : cells(row)) }
    }
    if !call.json {
      table.print()
      for group in end["groups"]?.arrayValue ?? [] {
        print(Terminal.safe("@\(group["name"]?.stringValue ?? "") is \(words(group["members"]))"))
      }
    }
    complain(ofRefused: end)
  }

  private static func cells(_ row: JSON) -> [String] {
    let isDefault = row["allow_from"] == "the default"
    return [
      row["name"]?.stringValue ?? "", words(row["allow"]) + (isDefault ? " (the default)" : ""), origin(row),
      row["description"]?.stringValue ?? "",
    ]
  }

  private static func rights(_ row: JSON) -> [String] {
    let by = row["by"]?.stringValue
    let isAllowed = row["allowed"]?.boolValue == true
    let answer = isAllowed ? "yes" : by == nil ? "no" : "not here"
    return [
      row["name"]?.stringValue ?? "", answer, by ?? "none of \(words(row["allow"]))",
      row["allow_from"]?.stringValue ?? origin(row),
    ]
  }

  /// Where a command comes from, and where it is said who may use it, if that is another place.
  private static func origin(_ row: JSON) -> String {
    let origin = row["origin"]?.stringValue ?? ""
    guard let allow = row["allow_from"]?.stringValue, allow != origin, allow != "the default" else { return origin }
    return "\(origin), \(allow)"
  }

  private static func words(_ list: JSON?) -> String {
    list?.arrayValue?.compactMap(\.stringValue).joined(separator: ", ") ?? ""
  }
}

extension Call {
  /// A request with those of `options`, and of a room's, that were given.
  fileprivate func request(_ verb: String, _ names: [String], _ more: [String: JSON] = [:]) -> JSON {
    var request = JSONObject()
    request["verb"] = .string(verb)
    for name in names + ["room", "affiliation", "role"] {
      if let value = options["--" + name] { request[name] = .string(value) }
    }
    for (name, value) in more { request[name] = value }
    return .object(request)
  }
}
