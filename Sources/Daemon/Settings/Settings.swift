import BotKit
import Glibc
import JID
import Systemd
import Transport

/// The configuration, checked and typed. `Settings.load` makes it; `SettingsSchema` describes its keys.
public struct Settings: Sendable, Hashable {
  /// The configuration file that was read.
  public var file: String
  public var account: Account
  public var subscriptions: Subscriptions
  public var archive: ArchiveSettings
  public var limits: Limits
  public var keepalive: Keepalive
  public var control: Control
  public var isolation = Isolation()
  public var log: Log
  public var groups: [Group]
  public var commands: [CommandSettings]
  public var handlers: [HandlerSettings] = []
  public var http = HTTPSettings()
  public var webhooks: [WebhookSettings] = []
  public var rooms: [Room] = []

  /// The folder beside the configuration file whose executable files are commands.
  public var commandsDirectory: String {
    guard let slash = file.lastIndex(of: "/") else { return "commands.d" }
    return file[...slash] + "commands.d"
  }

  /// `[account]`
  public struct Account: Sendable, Hashable {
    public enum TLSMode: String, Sendable, Hashable, CaseIterable {
      /// Direct TLS and STARTTLS, as the server's SRV records say.
      case auto
      case starttls
      case direct
    }

    /// Bare, with a local part.
    public var jid: JID
    /// Nil: the systemd credential `password`.
    public var passwordFile: String?
    /// Nil: a name that stays the same for this installation.
    public var resource: String?
    /// Name or address to dial in place of what DNS says.
    public var host: String?
    /// Nil with a host: 5222, or 5223 for direct TLS.
    public var port: UInt16?
    public var tls: TLSMode
    public var caFile: String?
    /// Any of these keys is accepted; empty: any key that a trusted authority vouches for.
    public var publicKeyPins: [PublicKeyPin]
    public var priority: Int8
    public var nickname: String?
    public var avatar: String?
    public var status: String?
  }

  /// `[subscriptions]`
  public struct Subscriptions: Sendable, Hashable {
    /// Who may add the bot.
    public var accept: [AccessRule]
    /// The roster group for those who did.
    public var group: String
  }

  /// `[archive]`
  public struct ArchiveSettings: Sendable, Hashable {
    public enum Sync: String, Sendable, Hashable, CaseIterable {
      /// A row survives a power cut.
      case full
      /// A row survives a crash of the process.
      case normal
    }

    /// How long messages are kept.
    public enum Keep: Sendable, Hashable {
      case forever
      /// So long after they were received or accepted.
      case age(Duration)
    }

    public var path: String
    public var keep: Keep = .forever
    public var rawXML: Bool
    public var sync: Sync
  }

  /// `[limits]`
  public struct Limits: Sendable, Hashable {
    /// Commands for each sender.
    public enum Rate: Sendable, Hashable {
      case unlimited
      case commands(Int, per: Duration)
    }

    public var rate: Rate
    /// The same for all occupants of a room together.
    public var roomRate: Rate = .commands(40, per: .seconds(10))
    /// How long a command may run.
    public var timeout: Duration
    /// The bytes of output that a command may send.
    public var output: Int
    /// How many commands run at once.
    public var concurrent: Int
    /// An older command is archived, not run.
    public var maxAge: Duration
    /// What each command may use of the machine.
    public var resources = ResourceLimits()
  }

  /// `[keepalive]`
  public struct Keepalive: Sendable, Hashable {
    public var interval: Duration
    public var timeout: Duration
  }

  /// `[control]`
  public struct Control: Sendable, Hashable {
    public var socket: String
  }

  /// `[commands]`
  public struct Isolation: Sendable, Hashable {
    /// The socket of the commands' service; nil where there can be none.
    public var socket: String?
    /// It was written into the configuration, so programs never run without it.
    public var isRequired = false

    /// The socket of the service in which programs run as things are at this moment; nil: they run as children of the daemon.
    /// It looks into the file system, so whoever acts upon it looks once.
    public func place() -> String? { socket.flatMap { isRequired || access($0, F_OK) == 0 ? $0 : nil } }
  }

  /// `[log]`
  public struct Log: Sendable, Hashable {
    public var level: LogLevel
    public var xml: Bool
  }

  /// `[group NAME]`
  public struct Group: Sendable, Hashable {
    public var name: String
    /// Only `.address` and `.domain`.
    public var members: [AccessRule]
  }

  /// `[handler NAME]`
  public struct HandlerSettings: Sendable, Hashable {
    public var name: String
    /// The program's absolute path and its arguments.
    public var exec: [String]
    public var events: Set<HandlerDescription.Event>
    public var commands: [String]
    public var description: String?
    public var allow: [AccessRule]
    public var places: Set<CommandSettings.Place>
    /// To whom it may send unasked.
    public var send: [AccessRule]
    /// Nil: that of `[limits]`.
    public var timeout: Duration?
  }

  /// `[command NAME]`
  public struct CommandSettings: Sendable, Hashable {
    public enum Place: String, Sendable, Hashable, CaseIterable { case chat, room }
    public typealias Output = ProgramCommand.Style

    public var name: String
    /// The program's absolute path and its first arguments.
    public var exec: [String]
    public var description: String?
    public var usage: String?
    public var allow: [AccessRule]
    public var places: Set<Place>
    /// Nil: that of `[limits]`.
    public var timeout: Duration?
    public var output: Output
    /// It may run again when the process ended in its midst.
    public var reruns: Bool
    /// What it prints is shown while it runs.
    public var isLive: Bool
    /// Nil in it: as in `[limits]`.
    public var resources = ResourceLimits()
    /// Where `allow` stands: a file and line, or "the default".
    public var allowOrigin = "the default"
    public var fields: [CommandField] = []
  }
}
