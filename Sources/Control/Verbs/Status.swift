import Daemon
import JSON

extension Verb {
  static let status = Verb(
    path: ["status"], summary: "What the daemon is doing",
    details: "Exit code 0 when the bot is online, 4 when it is not, 3 when the daemon is not running."
  ) { call throws(ControlFailure) in
    let status = try call.daemon().ask(["verb": "status"])
    if call.json {
      print(status.text(pretty: Terminal.isInteractive))
    } else {
      for line in lines(of: status) { print(line) }
    }
    if status["state"]?.stringValue != "online" { throw ControlFailure(.offline, "the bot is not online") }
  }

  /// How one is doing, and why it is not doing better.
  private static func text(ofHandler handler: JSON) -> String {
    let isRunning = handler["running"]?.boolValue == true
    let restarts = handler["restarts"]?.intValue ?? 0
    let open = handler["in_flight"]?.intValue ?? 0
    var parts = [(handler["name"]?.stringValue ?? "") + (isRunning ? " runs" : " does not run")]
    if open > 0 { parts.append("\(open) commands open") }
    if restarts > 0 {
      let times = restarts == 1 ? "once" : "\(restarts) times"
      let reason = handler["last_end"]?.stringValue.map { ": \($0)" } ?? ""
      parts.append("ended \(times)\(isRunning ? ", the last time" : "")\(reason)")
    }
    if let next = handler["next_start"]?.stringValue { parts.append("started again \(next)") }
    return parts.joined(separator: "; ")
  }

  private static func ink(ofState state: String?) -> Ink {
    switch state {
    case "online": .good
    case "connecting": .warning
    default: .bad
    }
  }

  private static func lines(of status: JSON) -> [String] {
    func text(_ key: String) -> String? { status[key].flatMap { $0.stringValue ?? $0.intValue.map(String.init) } }
    func seconds(_ key: String) -> String? { status[key]?.intValue.map { Duration.seconds($0).inWords } }
    /// `ink`: for the first value.
    func line(_ title: String, ink: Ink? = nil, _ values: String?...) -> String? {
      let found = values.compactMap { $0 }.map(Terminal.safe)
      guard let first = found.first else { return nil }
      return Table.padded(title, 14) + ([ink?.on(first) ?? first] + found.dropFirst()).joined(separator: ", ")
    }
    let size = status["archive_bytes"]?.intValue.map { "\(($0 + 1_023) / 1_024) KiB" }
    let connection: [String?] = [
      line("account", text("jid"), text("resource")),
      line(
        "state", ink: ink(ofState: text("state")), text("state"), text("reason"),
        text("next_attempt").map { "next attempt \($0)" }),
      line("online since", text("online_since"), seconds("online_for")), line("server", text("server")),
      line("TLS", text("tls"), text("cipher")), line("certificate", text("certificate_until").map { "until \($0)" }),
      line("login", text("mechanism")),
      line("streams", text("resumed").map { "\($0) resumed" }, text("reconnected").map { "\($0) reconnected" }),
    ]
    let work: [String?] = [
      line("outbox", text("outbox").map { "\($0) waiting" }), line("contacts", text("contacts")),
      line("rooms", text("rooms").map { "\(text("rooms_joined") ?? "0") of \($0) joined" }),
      line("archive", text("archive"), text("messages").map { "\($0) messages" }, size),
      line("fault", ink: .bad, text("archive_fault")), line("set aside", ink: .warning, text("archive_set_aside")),
      line(
        "commands", text("commands").map { "\($0) offered" }, text("running_commands").map { "\($0) running" },
        text("waiting_commands").map { "\($0) waiting" }),
    ]
    let handlers: [String?] = (status["handlers"]?.arrayValue ?? []).map { line("handler", self.text(ofHandler: $0)) }
    let end: [String?] = [line("version", text("version")), line("running for", seconds("uptime"))]
    return (connection + work + handlers + end).compactMap { $0 }
  }
}
