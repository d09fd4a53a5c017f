import JID

/// How a room's occupants address the bot.
public struct RoomAddress: Sendable, Hashable {
  /// The bot's nickname there, normalised as a resource (RFC 7622): "nick: ping" and "nick, ping" are commands.
  public var nick: String
  /// What else marks a command, such as "!"; empty for nothing else.
  public var prefix: String

  public init(nick: String, prefix: String = "!") {
    // Servers pass on nicknames that no address may have; those count byte for byte.
    self.nick = (try? JID.normalizedResource(nick)) ?? nick
    self.prefix = prefix
  }

  /// What is said to the bot.
  struct Speech: Hashable {
    let text: Substring
    /// It is meant for this bot and no other, whatever it says; a prefix may be another bot's, too.
    let isByNick: Bool
  }

  /// What is said to the bot in `body`; nil when it is not addressed. What follows a prefix follows it at once, since "! so
  /// much" is an exclamation; a prefix that ends like a word is followed by white space, since "botany" is another.
  func speech(in body: String) -> Speech? {
    if let end = nickEnd(in: body) { return Speech(text: body[end...], isByNick: true) }
    guard !prefix.isEmpty, body.utf8.starts(with: prefix.utf8) else { return nil }
    let text = body[body.utf8.index(body.startIndex, offsetBy: prefix.utf8.count)...]
    guard let next = text.unicodeScalars.first else { return Speech(text: text, isByNick: false) }
    return next.isWhiteSpace == endsLikeWord ? Speech(text: text, isByNick: false) : nil
  }

  /// What one types before a command; by the nickname where there is no prefix.
  var mark: String {
    if prefix.isEmpty { return nick.isEmpty ? "" : nick + ": " }
    return endsLikeWord ? prefix + " " : prefix
  }

  private var endsLikeWord: Bool { prefix.last.map { $0.isLetter || $0.isNumber } ?? false }

  /// Behind "nick:" or "nick,", where white space or the end follows. A nickname may hold such marks, so each is tried.
  private func nickEnd(in body: String) -> String.Index? {
    guard !nick.isEmpty else { return nil }
    let scalars = body.unicodeScalars
    // Decomposed, a character takes four code points at most.
    let furthest = scalars.index(
      scalars.startIndex, offsetBy: 4 * nick.unicodeScalars.count + 1, limitedBy: scalars.endIndex)
    var index = scalars.startIndex
    while index < furthest ?? scalars.endIndex {
      let next = scalars.index(after: index)
      if scalars[index] == ":" || scalars[index] == ",", next == scalars.endIndex || scalars[next].isWhiteSpace,
        isNick(body[..<index])
      {
        return next
      }
      index = next
    }
    return nil
  }

  private func isNick(_ text: Substring) -> Bool {
    if text.utf8.elementsEqual(nick.utf8) { return true }
    guard let normal = try? JID.normalizedResource(String(text)) else { return false }
    return normal.utf8.elementsEqual(nick.utf8)
  }
}
