import JID

/// What built-ins and access rules ask the daemon, at the moment of an answer: each must be quick.
public struct BotFacts {
  /// Whether this bare address is in the roster with a subscription.
  public var inRoster: (JID) -> Bool
  public var status: () -> StatusReport
  public var roster: () -> [RosterLine]

  public init(
    inRoster: @escaping (JID) -> Bool = { _ in false }, status: @escaping () -> StatusReport = { StatusReport() },
    roster: @escaping () -> [RosterLine] = { [] }
  ) {
    self.inRoster = inRoster
    self.status = status
    self.roster = roster
  }
}

/// What `status` tells.
public struct StatusReport: Sendable, Hashable {
  public var version = ""
  /// How long the stream has been up; nil when it is not.
  public var online: Duration?
  /// Such as "example.org, TLS 1.3".
  public var server = ""
  public var resumed = 0
  public var reconnected = 0
  /// Messages not yet acknowledged by the server.
  public var outbox = 0
  /// Messages in the archive.
  public var archived: Int?
  /// Commands running now.
  public var running = 0
  public init() {}
}

/// One contact, for `roster`.
public struct RosterLine: Sendable, Hashable {
  public let jid: JID
  public let name: String?
  /// As in RFC 6121: none, to, from, both.
  public let subscription: String

  public init(jid: JID, name: String?, subscription: String) {
    self.jid = jid
    self.name = name
    self.subscription = subscription
  }
}

/// What an immediate handler sees besides the request.
public struct AnswerContext {
  let message: ChatMessage
  let commands: CommandTable
  let access: AccessPolicy
  let facts: BotFacts

  /// The sender's groups, sorted.
  public var groups: [String] { message.address.map(access.groups) ?? [] }

  public var isAdmin: Bool { message.address.map(access.isAdmin) ?? false }

  public var status: StatusReport { facts.status() }

  public var roster: [RosterLine] { facts.roster() }

  /// The commands that the sender may use here, sorted by name.
  public var usableCommands: [CommandDescription] {
    commands.all.map(\.description).filter {
      access.permission(of: message, for: $0, inRoster: facts.inRoster).isGranted
    }
  }
}
