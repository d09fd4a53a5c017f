import Daemon
import JSON

extension Verb {
  static let send = Verb(
    path: ["send"], arguments: "JID [TEXT | -]",
    options: [Option("--lines", nil, "each line of the input is a message of its own")],
    summary: "Send one message",
    details: """
      Without TEXT, or with -, it is read from standard input. Exit code 0 means that the server has the message;
      4 that the bot is offline, 6 that the server does not answer.
      """
  ) { call throws(ControlFailure) in
    guard let to = call.words.first else { throw ControlFailure(.usage, "name a recipient: xmppbotctl send JID TEXT") }
    let text = call.words.dropFirst().joined(separator: " ")
    let fromInput = text.isEmpty || text == "-"
    let byLines = call.options["--lines"] != nil
    if byLines, !fromInput { throw ControlFailure(.usage, "--lines reads the input; leave the text out") }
    let daemon = try call.daemon()
    if byLines { return try sendLines(to: to, daemon) }
    let whole = fromInput ? input() : text
    if whole.isEmpty { throw ControlFailure(.usage, "there is no text: the input is empty") }
    try send(whole, to: to, daemon)
  }

  private static func sendLines(to: String, _ daemon: DaemonConnection) throws(ControlFailure) {
    var number = 0
    while let line = readLine() {
      number += 1
      if line.isEmpty { continue }
      do throws(ControlFailure) {
        try send(line, to: to, daemon)
      } catch {
        throw ControlFailure(error.code, "line \(number): \(error.reason)")
      }
    }
  }

  private static func send(_ text: String, to: String, _ daemon: DaemonConnection) throws(ControlFailure) {
    _ = try daemon.ask(["verb": "send", "to": .string(to), "text": .string(text)])
  }

  private static func input() -> String {
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines.joined(separator: "\n")
  }
}
