/// A message to archive: one row of `message`. Texts are kept as they came.
public struct NewMessage: Sendable, Hashable {
  public enum Direction: String, Sendable { case `in`, out }
  /// The stanza's type (RFC 6121, 5.2.2).
  public enum Kind: String, Sendable { case chat, normal, groupchat, headline, error }
  /// How far it has come. What arrives is `received`; what leaves goes from `queued` (accepted by us) to `sent` (written),
  /// `acked` (the server has it, XEP-0198), `received` and `displayed` (the contact's client says so), or `failed`.
  public enum State: String, Sendable, CaseIterable { case queued, sent, acked, received, displayed, failed }

  public var direction: Direction
  public var kind: Kind
  public var state: State
  /// Bare JID of the other side; the room's for what is said in a room.
  public var peer: String
  /// When we received or accepted it, microseconds since 1970, UTC.
  public var time: Int64
  public var resource: String?
  /// Bare JID of the room, also for private messages through it.
  public var room: String?
  public var nick: String?
  /// XEP-0421.
  public var occupantID: String?
  public var subject: String?
  public var body: String?
  public var lang: String?
  public var thread: String?
  /// The stamp of XEP-0203, microseconds since 1970. Never trusted for order.
  public var delay: Int64?
  /// The stanza's id attribute.
  public var messageID: String?
  /// XEP-0359.
  public var originID: String?
  /// XEP-0359; only with an `by` that was entitled to give it.
  public var stanzaID: StanzaID?
  /// The id that this message corrects (XEP-0308).
  public var replaces: String?
  /// The id that this message retracts (XEP-0424).
  public var retracts: String?
  /// The id that this message answers (XEP-0461).
  public var replyTo: String?
  /// It is no text but a reaction (XEP-0444).
  public var reaction: Reaction?
  /// Why it failed.
  public var error: String?
  public var rawXML: String?

  /// `state` is by default `received` for what comes in and `queued` for what goes out.
  public init(
    _ direction: Direction, _ kind: Kind, peer: String, time: Int64, body: String? = nil, state: State? = nil
  ) {
    self.direction = direction
    self.kind = kind
    self.peer = peer
    self.time = time
    self.body = body
    self.state = state ?? (direction == .in ? .received : .queued)
  }

  /// Emoji that stand at an earlier message, in place of those before; none: they are taken back.
  public struct Reaction: Sendable, Hashable {
    /// The id of that message.
    public var to: String
    /// None holds a space.
    public var emoji: [String]
    public init(to: String, emoji: [String]) {
      self.to = to
      self.emoji = emoji
    }
  }

  /// A message's id in an archive, and the bare JID of that archive (XEP-0359).
  public struct StanzaID: Sendable, Hashable {
    public var id: String
    public var by: String
    public init(id: String, by: String) {
      self.id = id
      self.by = by
    }
  }
}

/// A message as it stands in the archive.
@dynamicMemberLookup
public struct MessageRow: Sendable, Hashable {
  /// Never given twice; ascends in the order in which messages were taken in.
  public let id: Int64
  public let message: NewMessage

  public subscript<T>(dynamicMember field: KeyPath<NewMessage, T>) -> T { message[keyPath: field] }
}
