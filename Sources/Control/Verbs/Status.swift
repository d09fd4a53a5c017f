import Daemon
import JSON

extension Verb {
  static let status = Verb(path: ["status"], arguments: "[--json]", summary: "What the daemon is doing") {
    arguments, context throws(ControlFailure) in
    try refuse(try arguments.rest([], &context).words, "status")
    let status = try context.daemon().ask(["verb": "status"])
    let isOnline = status["state"]?.stringValue == "online"
    if context.json {
      print(status.text(pretty: Terminal.isInteractive))
    } else {
      for line in lines(of: status) { print(line) }
    }
    if !isOnline { throw ControlFailure(.offline, "the bot is not online") }
  }

  private static func lines(of status: JSON) -> [String] {
    func line(_ title: String, _ keys: String...) -> String? {
      let values = keys.compactMap { key in status[key].flatMap(text) }
      return values.isEmpty ? nil : Table.padded(title, 14) + Terminal.safe(values.joined(separator: ", "))
    }
    return [
      line("account", "jid", "resource"), line("state", "state"), line("reason", "reason"),
      line("next attempt", "next_attempt"),
      line("online for", "online_for").map { $0 + " s" }, line("TLS", "tls", "cipher"),
      line("valid until", "certificate_until"), line("login", "mechanism"),
      line("reconnected", "reconnected").map { $0 + " times" }, line("contacts", "contacts"),
      line("messages", "messages"), line("archive", "archive"),
      line("commands", "running_commands").map { $0 + " running" },
      line("running for", "uptime").map { $0 + " s" }, line("version", "version"),
    ].compactMap { $0 }
  }

  private static func text(_ value: JSON) -> String? {
    value.stringValue ?? value.intValue.map(String.init)
  }
}
