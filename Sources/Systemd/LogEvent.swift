/// The kinds of event that the daemon reports. The raw value is the journal's XMPPBOT_EVENT.
///
/// Each has a MESSAGE_ID of its own that never changes, and an entry in `systemd/xmppbotd.catalog` that says what it means
/// and what to do.
public enum LogEvent: String, Sendable, Hashable, CaseIterable {
  /// The process runs and has read its configuration.
  case started
  /// Configuration, archive and control socket stand.
  case ready
  /// The daemon was told to stop.
  case stopping
  /// A new configuration is in force.
  case reloaded
  /// A new configuration is wrong; the old one stays.
  case reloadFailed = "reload-failed"
  /// The configuration is wrong, and the daemon does not start.
  case configurationInvalid = "config-invalid"
  /// An attempt to reach the server begins.
  case connecting
  /// The bot is logged in and available.
  case online
  /// The stream ended without having been asked to.
  case disconnected
  /// No server could be reached.
  case connectFailed = "connect-failed"
  /// The server refuses the account or its password.
  case loginFailed = "login-failed"
  /// An operator lets the next login be weaker than those before.
  case mechanismForgotten = "mechanism-forgotten"
  /// TLS cannot be agreed on, or the server's certificate is not trusted.
  case tlsRefused = "tls-refused"
  /// Another client took the bot's resource.
  case conflict
  /// A contact may see the bot's presence.
  case subscriptionAccepted = "subscription-accepted"
  /// A contact may not see the bot's presence.
  case subscriptionRefused = "subscription-refused"
  /// A message is in the archive.
  case messageReceived = "message-received"
  /// A message was handed to the server.
  case messageSent = "message-sent"
  /// A message that the bot sent came back as an error.
  case messageBounced = "message-bounced"
  /// A command has ended well.
  case commandRun = "command-run"
  /// A contact asked for a command that it may not use.
  case commandDenied = "command-denied"
  /// A command failed or ran out of time.
  case commandFailed = "command-failed"
  /// A file could not be brought to the server.
  case uploadFailed = "upload-failed"
  /// A file in commands.d is not offered as a command.
  case commandFileRefused = "command-file-refused"
  /// Programs run as children of the daemon, with its rights.
  case commandsNotIsolated = "commands-not-isolated"
  /// A line that a program wrote to standard error.
  case handlerOutput = "handler-output"
  /// A long-running handler was started.
  case handlerStarted = "handler-started"
  /// A long-running handler has ended.
  case handlerEnded = "handler-ended"
  /// A contact sends commands faster than `rate` allows.
  case rateLimited = "rate-limited"
  /// A webhook was called, and its message is on its way.
  case webhookCalled = "webhook-called"
  /// A call of a webhook was refused.
  case webhookRefused = "webhook-refused"
  /// The bot is in a room.
  case roomJoined = "room-joined"
  /// The bot has left a room that is not wanted any more.
  case roomLeft = "room-left"
  /// The bot is not in a room where it is to be, or can't do there what it should.
  case roomNotJoined = "room-not-joined"
  /// The archive cannot be written or read.
  case archiveError = "archive-error"
  /// The archive can be used again.
  case archiveRecovered = "archive-recovered"
  /// The archive was damaged: it was renamed, and a new one begun.
  case archiveSetAside = "archive-set-aside"
  /// Another program keeps the archive's write-ahead log from being cut.
  case archiveLogHeld = "archive-log-held"
  /// Old messages were deleted.
  case archivePruned = "archive-pruned"
  /// Something forged, forbidden or senseless arrived and was ignored.
  case protocolViolation = "protocol-violation"
  /// A stanza that ended the stream again and again is not sent, or not asked for, any more.
  case stanzaSetAside = "stanza-set-aside"
  /// Messages may have been missed, and can't be fetched.
  case messagesMissed = "messages-missed"
  /// What was missed was fetched from the server's archive.
  case caughtUp = "caught-up"
  /// The XML of a stanza, with its secrets blanked.
  case stanzaTrace = "stanza-trace"

  /// How much an event of this kind matters.
  public var level: LogLevel {
    switch self {
    case .reloadFailed, .configurationInvalid, .loginFailed, .tlsRefused, .archiveError, .archiveSetAside,
      .stanzaSetAside:
      .error
    case .disconnected, .connectFailed, .conflict, .commandDenied, .commandFailed, .uploadFailed,
      .messageBounced, .commandFileRefused, .handlerEnded,
      .rateLimited, .mechanismForgotten, .webhookRefused, .roomNotJoined, .archiveLogHeld,
      .protocolViolation, .messagesMissed:
      .warning
    case .connecting, .stanzaTrace:
      .debug
    default:
      .info
    }
  }

  /// The journal's MESSAGE_ID (journald's catalog): 128 random bits, drawn once for each kind.
  public var messageID: String {
    switch self {
    case .started: "5e249af437744cd6a3f7d8d9cbd19f73"
    case .ready: "b3097cfbe3314c16a846a87f670b949f"
    case .stopping: "74915e2a86df405fa75c0c9018ac6155"
    case .reloaded: "afac2b87443b48e7823fbb423f83691e"
    case .reloadFailed: "65ba8bc4c8e34744948aa0fad9b7d953"
    case .configurationInvalid: "91df57ba0ae641bab5cc8b0bce1788cf"
    case .connecting: "ae51d41fe2994c398dcbc08165da534d"
    case .online: "476b9ba51f944962a5c0bbfe5510d12f"
    case .disconnected: "916c590e7b7843e58b8465a89bfffa40"
    case .connectFailed: "8af0fca2c8564ccfb4eca9f022c27418"
    case .loginFailed: "7dd54ab0d9a24656ad2a871dd3b7b229"
    case .mechanismForgotten: "2ce66ee3e9c04efcb8bcc7a809068fd0"
    case .tlsRefused: "56971db2e2f543f6b5dd0a35e942179e"
    case .conflict: "26d8bac1010144639de4a6eaeee61d31"
    case .subscriptionAccepted: "d334fff07148475c8f7e03eb9dd50c85"
    case .subscriptionRefused: "12bf4dde3f234247bfa4b96f81851c06"
    case .messageReceived: "314e1ac16292456cb895a4ca2e9dee45"
    case .messageSent: "e226c3f76ebc4222be94578596e63166"
    case .messageBounced: "9c7fe89e7a254cc1bd8dc0fe4313c615"
    case .commandRun: "af8dc8201775447b8ffe4fcae616d7ef"
    case .commandDenied: "c0e34820739a46b4a2af20e21a259eec"
    case .commandFailed: "d70bcce1fef34a62a71ca18464c527f1"
    case .uploadFailed: "375021f16dd544b1a90fee12639f695e"
    case .commandFileRefused: "bc6a6d8ab74c48c3b3fb40b391178871"
    case .commandsNotIsolated: "f784c2a52eb84b4aa186e34c3ce702be"
    case .handlerOutput: "463af1471bf44720af7937870d07bb07"
    case .handlerStarted: "009120a5141a47a7ab5fced3242477bf"
    case .handlerEnded: "7f64a28cfaec4e09be32ca8fd3547e7b"
    case .rateLimited: "fe045da5704b4d028ec0a3a463d3e476"
    case .webhookCalled: "efbcf6147a3842869379b28229f7ca3c"
    case .webhookRefused: "6d28f7ba90224c3c8b2741cc22ad0089"
    case .roomJoined: "6c535ab7750b9b78ef57eb3cc6578026"
    case .roomLeft: "63cb03a75d4dc1ce1d34d2f38fbd7049"
    case .roomNotJoined: "cd76d15d3b8210d15267bebe58a42ad5"
    case .archiveError: "6656a836a94e457cbcf90c8e662050d3"
    case .archiveRecovered: "df285f388dfb4093b29800c380a83400"
    case .archiveSetAside: "46058ba61de4aed965ec71a5a699a2de"
    case .archiveLogHeld: "bde8fd7eafcfcfb6a5d56e1983bb31be"
    case .archivePruned: "20e9deb9cd88f70e31e49640d381c31f"
    case .protocolViolation: "ec2e4ee7392046ea9468d774ff61f29d"
    case .stanzaSetAside: "f6f1b5b459ae47eeb585beaf0bc12746"
    case .messagesMissed: "c0c94b1c3d204fd3a1f0df3df13d9c00"
    case .caughtUp: "3f157767a8684fa582a5d8eadad4053f"
    case .stanzaTrace: "5795376c35a847898990b64a5fbc1d7d"
    }
  }
}
