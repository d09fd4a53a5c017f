/// What an answer looks like in a room, where others read it who did not ask.
enum RoomAnswer {
  /// A text that takes more messages goes up as a file, or is cut off.
  static let mostPieces = 3
  /// Bytes of one message; a longer one pushes away what others said.
  static let longest = 4_000
  /// Bytes of a nickname before an answer; of a longer one the beginning is there.
  private static let longestNick = 100
  /// Before what must not begin with others' words: bots take what is said in a room for a command by how it begins, and would do in
  /// our name what somebody has us say.
  static let mark = "→ "

  /// The text with the nickname of who asked before it, by which clients tell them. What has to begin a line (a block, a
  /// quotation) begins one. `isMistakable`: another who is there may take the nickname for their own.
  static func addressed(_ text: String, to nick: String?, isMistakable: Bool = false) -> String {
    let name = nick.map(shortened) ?? ""
    guard !name.isEmpty else { return mark + text }
    // "!deploy" would give a command to another bot, "bot2: deploy" and "bot2 deploy" too, and so may a part of a nickname.
    let isPlain = !isMistakable && name == nick && RoomNick.isOneWord(name)
    return "\(isPlain ? "" : mark)\(name):\(beginsLine(text) ? "\n" : " ")\(text)"
  }

  private static func shortened(_ nick: String) -> String {
    guard nick.utf8.count > longestNick else { return nick }
    var short = String.UnicodeScalarView()
    var bytes = 0
    for scalar in nick.unicodeScalars {
      bytes += UTF8.width(scalar)
      guard bytes <= longestNick else { break }
      short.append(scalar)
    }
    return String(short) + "…"
  }

  /// The messages after the first have no nickname before them.
  static func marked(_ pieces: [String]) -> [String] {
    pieces.enumerated().map { index, piece in
      index == 0 ? piece : mark + (beginsLine(piece) ? "\n" : "") + piece
    }
  }

  private static func beginsLine(_ text: String) -> Bool { text.hasPrefix("```") || text.hasPrefix(">") }

  /// As many of `pieces` as a room gets, and how to have the rest: in a chat by `command`, if that is heard there.
  static func cut(_ pieces: [String], command: String?) -> [String] {
    let way = command.map { "use \($0) in a chat with me for all of it" } ?? "a room gets no more at once"
    var pieces = Array(pieces.prefix(mostPieces))
    guard let last = pieces.popLast() else { return [] }
    return pieces + [last + "\n(cut off: \(way))"]
  }
}
