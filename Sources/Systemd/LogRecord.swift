/// One event, as it goes to the journal or a terminal.
public struct LogRecord: Sendable, Hashable {
  public var event: LogEvent
  public var level: LogLevel
  public var message: String
  /// XMPPBOT_JID: the bot's own account.
  public var jid: String?
  /// XMPPBOT_PEER: the bare JID of the contact that the event is about.
  public var peer: String?
  /// XMPPBOT_ROOM: the room's bare JID.
  public var room: String?
  /// XMPPBOT_COMMAND: the command's name.
  public var command: String?
  /// XMPPBOT_STANZA_ID: the id of the stanza or message.
  public var stanzaID: String?
  /// XMPPBOT_DURATION_US: how long what is reported took.
  public var duration: Duration?

  public init(
    event: LogEvent, level: LogLevel? = nil, message: String, jid: String? = nil, peer: String? = nil,
    room: String? = nil, command: String? = nil, stanzaID: String? = nil, duration: Duration? = nil
  ) {
    self.event = event
    self.level = level ?? event.level
    self.message = message
    self.jid = jid
    self.peer = peer
    self.room = room
    self.command = command
    self.stanzaID = stanzaID
    self.duration = duration
  }

  /// The journal's PRIORITY (syslog(3)): that of the level, but critical (2) where data may be lost and somebody has to act.
  var priority: Int { event == .archiveSetAside ? 2 : level.priority }
}

/// Where records go. Called from any thread; must not call back into the logger.
public protocol LogSink: Sendable {
  func write(_ record: LogRecord)
}
