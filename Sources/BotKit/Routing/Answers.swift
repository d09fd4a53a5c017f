import JID

/// What contacts are told, in one place: one line mostly, and what to do next where something failed.
enum Answers {
  static let tooMany = "Slow down: that is too many commands at once. I will not answer until you pause for a moment."

  static let roomTooMany =
    "Slow down: that is too many commands for one room. I will not answer here until there is a pause."

  static let reflex =
    "You answer each of my messages at once. If you are a bot: so am I. I stay quiet until you pause for a minute."

  static let corrected = "I don't run corrections: send the command as a new message."

  static func unknown(_ word: String, nearest: String?, more: Int) -> String {
    let quiet = more == 0 ? " I stay quiet now until you send a command that I know." : ""
    let hint = nearest.map { "Did you mean \($0)? Send help for the list." } ?? "Send help for what I can do."
    return "I don't know \(quoted(word)). \(hint)\(quiet)"
  }

  static func closed(_ name: String) -> String {
    "That question is no longer open. Use \(name) again to be asked anew."
  }

  static func denied(_ name: String) -> String {
    "\(name): not allowed. Ask an administrator of this bot if you need it; help lists what you may use."
  }

  static func misplaced(_ name: String, here: Places) -> String {
    here == .room ? "\(name) works only in a chat with me: send it there." : "\(name) works only in a room."
  }

  static func unclosed(_ quote: Character) -> String {
    "A \(quote) has no partner: close it, or write \\\(quote) for the character itself."
  }

  static func stale(_ name: String) -> String {
    "\(name) reached me too late to run it safely. Send it again if you still want it."
  }

  static func cutShort(_ name: String) -> String {
    "\(name): interrupted, I was restarted while it ran. It may have been done in part; send it again if you still want it."
  }

  /// How a command ended, when that needs saying.
  static func ending(of command: CommandDescription, _ result: CommandResult) -> String? {
    let name = command.name
    return switch result {
    case .done, .cancelled: nil
    case .usage: usage(command)
    case .tryLater: "\(name): try again later"
    case .notAllowed: "\(name): not allowed"
    case .exited(let code): "\(name): failed (exit \(code))"
    case .failed(let reason): "\(name): failed (\(reason))"
    case .timedOut(let limit): "\(name): stopped, it took longer than \(Units.text(limit))"
    case .outputLimit(let bytes): "(cut off at \(Units.text(bytes: bytes)))"
    case .interrupted: "\(name): interrupted, the bot is restarting. Send it again in a moment."
    case .busy: "\(name): too many commands are running. Try again in a moment."
    }
  }

  static func usage(_ command: CommandDescription) -> String {
    if let usage = command.usage { return "Usage: \(usage)" }
    return "\(command.name): those are not its arguments. Send help \(command.name) to see what it does."
  }

  /// A contact's word as it may appear in an answer: short, one line.
  static func quoted(_ word: String) -> String {
    let short = word.prefix(40)
    return "“\(short)\(short.endIndex == word.endIndex ? "" : "…")”"
  }
}
