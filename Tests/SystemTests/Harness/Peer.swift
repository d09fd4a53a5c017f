import JSON

/// A contact of the bot's: slixmpp, a client that is not ours, driven by Tests/Servers/peer.py.
final class Peer {
  let account: Account
  private let bot: Bot?
  private let program: Program
  private let scratch: Scratch

  /// Logs in and waits until it is online. `resource`: its own by default. `patience`: how long it waits for the answer
  /// to a query.
  init(
    _ account: Account, on server: Server, talkingTo bot: Bot? = nil, resource: String? = nil,
    patience: Duration = .seconds(20)
  ) throws {
    self.account = account
    self.bot = bot
    scratch = try Scratch()
    let jid = account.jid + (resource.map { "/" + $0 } ?? "")
    program = try Program(
      [
        Server.scripts + "/peer.py", "--patience", "\(patience / .seconds(1))", "--host", server.host, "--port",
        server.port, "--ca", server.authority, jid,
        account.password,
      ],
      output: scratch.file("events"), errors: scratch.file("errors"))
    _ = try event("connected")
  }

  /// One command of peer.py.
  func tell(_ line: String) { program.write(line) }

  func send(_ text: String, to jid: String? = nil) {
    tell("send \(jid ?? bot?.account.jid ?? "") \(text)")
  }

  /// Sends a message with any text whatever.
  func send(_ text: String, id: String) {
    tell(
      "raw <message type='chat' to='\(bot?.account.jid ?? "")' id='\(id)'><body>\(Self.escaped(text))</body></message>")
  }

  /// Sends a text to the bot and waits for the next message from it.
  func ask(_ text: String, within time: Duration = .seconds(30)) throws -> String {
    send(text)
    return try message(within: time)
  }

  /// The next message from the bot that has a text.
  func message(within time: Duration = .seconds(30), where matches: (String) -> Bool = { _ in true }) throws -> String {
    let event = try event("message", within: time) {
      guard let body = $0["body"]?.stringValue, !body.isEmpty else { return false }
      return isFromBot($0) && matches(body)
    }
    return event["body"]?.stringValue ?? ""
  }

  func presence(_ type: String, within time: Duration = .seconds(30)) throws -> JSON {
    try event("presence", within: time) { isFromBot($0) && $0["type"]?.stringValue == type }
  }

  /// The outcome of a query such as `version`, sent to the bot's full address.
  func query(_ name: String, _ rest: String = "", within time: Duration = .seconds(30)) throws -> JSON {
    tell("\(name) \(bot?.fullJID ?? "")\(rest.isEmpty ? "" : " " + rest)")
    return try event("iq", within: time) { $0["query"]?.stringValue == name }
  }

  /// Waits for an event of this kind that `matches`, among those not yet taken.
  func event(_ kind: String, within time: Duration = .seconds(30), where matches: (JSON) -> Bool = { _ in true }) throws
    -> JSON
  {
    var found: JSON = .null
    do {
      _ = try program.line(within: time) { line in
        guard let json = try? JSON(parsing: Array(line.utf8)), json["event"]?.stringValue == kind, matches(json) else {
          return false
        }
        found = json
        return true
      }
    } catch {
      throw Problem(
        "the peer waits for \(kind): \(error)\n\(contents(of: scratch.file("errors")))\nThe bot: \(bot?.log ?? "")")
    }
    return found
  }

  /// All events of this kind so far, taken or not.
  func events(_ kind: String) -> [JSON] {
    program.output.text.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
      .filter { $0["event"]?.stringValue == kind }
  }

  /// Logs out.
  func leave() throws {
    tell("quit")
    _ = try program.exit()
  }

  private func isFromBot(_ event: JSON) -> Bool {
    guard let from = event["from"]?.stringValue, let bot else { return true }
    return from == bot.account.jid || from.hasPrefix(bot.account.jid + "/")
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\n", "\t": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
