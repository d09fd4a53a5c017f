/// What an answer looks like in a room, where others read it who did not ask.
enum RoomAnswer {
  /// A text that takes more messages goes up as a file, or is cut off.
  static let mostPieces = 3
  /// Bytes of one message; a longer one pushes away what others said.
  static let longest = 4_000
  /// A longer nickname is no address.
  private static let longestNick = 100

  /// The text with the nickname of who asked before it, by which clients tell them. What has to begin a line (a block, a
  /// quotation) begins one.
  static func addressed(_ text: String, to nick: String?) -> String {
    guard let nick, nick.utf8.count <= longestNick, let first = nick.first else { return text }
    let beginsLine = text.hasPrefix("```") || text.hasPrefix(">")
    // A nickname such as "!deploy" would give a command to another bot, in our name.
    let mark = first.isLetter || first.isNumber ? "" : "→ "
    return "\(mark)\(nick):\(beginsLine ? "\n" : " ")\(text)"
  }

  /// As many of `pieces` as a room gets, and how to have the rest: in a chat by `command`, if that is heard there.
  static func cut(_ pieces: [String], command: String?) -> [String] {
    let way = command.map { "use \($0) in a chat with me for all of it" } ?? "a room gets no more at once"
    var pieces = Array(pieces.prefix(mostPieces))
    guard let last = pieces.popLast() else { return [] }
    return pieces + [last + "\n(cut off: \(way))"]
  }
}
