import EventLoop
import JID

/// What built-in commands ask of the daemon about rooms (XEP-0045). Until the daemon gives it, there are none.
public struct RoomService: Sendable {
  /// Why something can't be done with a room, in a sentence that a contact may read.
  public struct Refusal: Error, Sendable, Hashable {
    public let text: String
    public init(_ text: String) { self.text = text }
  }

  /// The bot is in a room, or has left it.
  public struct Standing: Sendable, Hashable {
    /// Ours there.
    public let nick: String
    /// A section of the configuration names the room: each start joins it, and each reload.
    public let isConfigured: Bool

    public init(nick: String, isConfigured: Bool) {
      self.nick = nick
      self.isConfigured = isConfigured
    }
  }

  /// Every room that the bot is in or wants to be in, sorted.
  public var list: @Sendable @LoopActor () -> [RoomLine] = { [] }
  /// Joins a room under this nickname (nil: the usual one), and calls back when the bot is in, or why it is not.
  public var join:
    @Sendable @LoopActor (JID, String?, @escaping @LoopActor (Result<Standing, Refusal>) -> Void) -> Void = {
      $2(.failure(Refusal("I can't join rooms.")))
    }
  /// Leaves a room.
  public var leave: @Sendable @LoopActor (JID) -> Result<Standing, Refusal> = { _ in
    .failure(Refusal("I am in no room."))
  }
  /// Says a text in a room that the bot is in; why it can't.
  public var say: @Sendable @LoopActor (JID, String) -> Refusal? = { _, _ in Refusal("I am in no room.") }
  /// The rooms in which the owner of this address is at present.
  public var present: @Sendable @LoopActor (JID) -> [JID] = { _ in [] }

  public init() {}
}

/// One room, for `rooms`.
public struct RoomLine: Sendable, Hashable {
  public let room: JID
  /// Ours there, as it is or is to be.
  public let nick: String
  /// How it stands, in words; where the bot is not in it, with the reason.
  public let state: String
  public let isConfigured: Bool

  public init(room: JID, nick: String, state: String, isConfigured: Bool) {
    self.room = room
    self.nick = nick
    self.state = state
    self.isConfigured = isConfigured
  }
}
