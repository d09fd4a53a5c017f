import XML

/// XEP-0444 (0.2.1): the emoji that somebody puts at an earlier message, all of them; those before are replaced.
public struct Reactions: Sendable, Hashable {
  /// The id of the message that they stand at.
  public var messageID: String
  /// In order, each once; none: they are taken back.
  public var emoji: [String]

  /// More than so many are not kept, nor longer ones than so many bytes: what is no emoji is no reaction.
  static let most = 32
  static let longest = 128

  public init(to messageID: String, _ emoji: [String]) {
    self.messageID = messageID
    self.emoji = emoji
  }

  /// Nil for what names no message.
  init?(_ element: Element) {
    guard let id = element["id"], !id.isEmpty else { return nil }
    messageID = id
    emoji = []
    for case .element(let child) in element.children
    where child.name == "reaction" && child.namespace == Namespace.reactions {
      let text = child.text
      let isOne = !text.isEmpty && text.utf8.count <= Self.longest && !text.contains(where: \.isWhitespace)
      if isOne, emoji.count < Self.most, !emoji.contains(text) { emoji.append(text) }
    }
  }

  var element: Element {
    var reactions = Element("reactions", Namespace.reactions, [("id", messageID)])
    for one in emoji { reactions.append(Element("reaction", Namespace.reactions, text: one)) }
    return reactions
  }
}
