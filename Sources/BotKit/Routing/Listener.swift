import JID

/// A handler that listens to what is no command: to whom, and where.
public struct Listener: Sendable, Hashable {
  public var allow: [AccessRule]
  public var places: Places

  public init(allow: [AccessRule], places: Places = .chat) {
    self.allow = allow
    self.places = places
  }

  /// Whether it is told of `message`.
  public func hears(_ message: ChatMessage, _ access: AccessPolicy, inRoster: (JID) -> Bool) -> Bool {
    places.contains(message.place) && access.allows(message, allow, inRoster: inRoster)
  }
}

extension ChatMessage {
  /// The room in which a choice was offered and is made; nil: in a chat.
  var choiceRoom: JID? { place == .room ? room : nil }
}
