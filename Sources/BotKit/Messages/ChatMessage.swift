import JID

/// A message as the bot's commands see it: text and addresses, no XML. Who sent it was settled before.
public struct ChatMessage: Sendable, Hashable {
  /// The sender's bare address, vouched for by the server. In a room that hides its occupants' addresses: the room's
  /// own address, never a nickname, since anybody can take a nickname.
  public var sender: JID
  /// The sender's resource in a chat.
  public var resource: String?
  /// The sender's nickname: in a room the occupant's, in a chat the one they publish.
  public var nick: String?
  /// The room's bare address; nil in a chat.
  public var room: JID?
  /// An occupant's word to the bot alone, through the room (XEP-0045 section 7.5). A chat, as far as commands go.
  public var isPrivate = false
  /// Whose the room says that such a word is: to know them again, and for no right.
  public var seenAddress: JID?
  /// Which stay in the room such a word was said in: it lasts through changes of the nickname, and no other has the same.
  public var stay: Int?
  /// What stays the same when an occupant changes nickname (XEP-0421 version 0.1).
  public var occupantID: String?
  /// The id that an answer may refer to.
  public var messageID: String?
  /// The conversation's thread, which an answer keeps (RFC 6121 section 5.2.5); nil when it is too long for that.
  public var thread: String?
  /// The `xml:lang` in force.
  public var lang: String?
  /// The whole text as it came.
  public var body: String
  /// When it arrived: microseconds since 1970 UTC.
  public var time: Int64
  /// The sender's standing in the room (XEP-0045), as the room says; nil in a chat.
  public var affiliation: Affiliation?
  public var role: Role?
  /// The room's own id of it (XEP-0359), by which all who are there refer to it.
  public var roomID: String?
  /// The sender's own unique id of it (XEP-0359), by which answers refer to it where there is one (XEP-0461).
  public var originID: String?
  /// The id of the sender's earlier message that this one corrects (XEP-0308).
  public var corrects: String?
  /// Its text is for other eyes (XEP-0380): `body` says nothing.
  public var isEncrypted = false
  /// An operator tries a command out: nobody has sent it, and nobody is to hear of it.
  public var isTrial = false
  /// How long before its arrival it was sent (offline storage, archives); zero when it came live.
  public var age: Duration

  /// Bytes of an id or a thread that is taken over into an answer. The sender chooses them, and longer ones would leave the
  /// answer no room in its stanza.
  public static let longestReference = 200

  public init(
    sender: JID, body: String, resource: String? = nil, nick: String? = nil, room: JID? = nil,
    occupantID: String? = nil, messageID: String? = nil, thread: String? = nil, lang: String? = nil, time: Int64 = 0,
    age: Duration = .zero
  ) {
    self.sender = sender.bare
    self.resource = resource
    self.nick = nick
    self.room = room
    self.occupantID = occupantID
    self.messageID = messageID
    self.thread = thread.flatMap { $0.utf8.count <= Self.longestReference ? $0 : nil }
    self.lang = lang
    self.body = body
    self.time = time
    self.age = age
  }

  /// The id by which an answer refers to it (XEP-0461 section 4.1); in a room the room's and no other.
  public var referenceID: String? { place == .room ? roomID : originID ?? messageID }

  /// The id by which a reaction refers to it (XEP-0444 section 4.2).
  public var reactionID: String? { place == .room ? roomID : messageID }

  /// Whom limits and loop guards count: the sender, or the occupant where a room hides addresses.
  var speaker: Speaker {
    Speaker(address: sender, occupant: sender == room ? occupantID ?? nick : nil)
  }

  /// The sender, for the operator: in a room the occupant, with the address if it is known.
  public var who: String {
    guard let room else { return sender.description }
    // A nickname can look like an address.
    return (nick.map { "the occupant \($0) of \(room)" } ?? "somebody in \(room)") + (address.map { " (\($0))" } ?? "")
  }

  /// Where it was said.
  public var place: Places { room == nil || isPrivate ? .chat : .room }
}

/// One source of messages, for counting.
struct Speaker: Hashable, Sendable {
  let address: JID
  let occupant: String?
}

/// The kinds of conversation in which a command may be used.
public struct Places: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public static let chat = Places(rawValue: 1)
  public static let room = Places(rawValue: 2)
}
