import Transport

/// What differs between two configurations, and what it takes to put the new one into force.
public struct SettingsChanges: Sendable, Hashable {
  /// Keys such as `account.host` whose change ends the stream and opens another.
  public private(set) var needNewStream: [String] = []
  /// Keys of `[account]` that contacts see; the stream stays.
  public private(set) var needNewPresence: [String] = []
  /// Keys that stay as they were until the daemon is restarted.
  public private(set) var needRestart: [String] = []
  /// Sections and keys that are simply in force from now on.
  public private(set) var immediate: [String] = []

  public var isEmpty: Bool {
    needNewStream.isEmpty && needNewPresence.isEmpty && needRestart.isEmpty && immediate.isEmpty
  }

  /// A password that changed in its file is not seen here: compare the two `Password`s.
  public init(from old: Settings, to new: Settings) {
    func changed(_ name: String, _ value: (Settings) -> some Equatable) -> [String] {
      value(old) == value(new) ? [] : [name]
    }
    needNewStream =
      changed("account.password-file") { $0.account.passwordFile } + changed("account.resource") { $0.account.resource }
      + changed("account.host") { $0.account.host }
      + changed("account.port") { $0.account.port } + changed("account.tls") { $0.account.tls }
      + changed("account.ca-file") { $0.account.caFile }
      + changed("account.public-key-pin") { $0.account.publicKeyPins }
    needNewPresence =
      changed("account.priority") { $0.account.priority } + changed("account.nickname") { $0.account.nickname }
      + changed("account.avatar") { $0.account.avatar } + changed("account.status") { $0.account.status }
    needRestart =
      changed("account.jid") { $0.account.jid } + changed("archive.path") { $0.archive.path }
      + changed("archive.sync") { $0.archive.sync }
      + changed("control.socket") { $0.control.socket }
    immediate =
      changed("archive.keep") { $0.archive.keep } + changed("archive.raw-xml") { $0.archive.rawXML }
      + changed("subscriptions") { $0.subscriptions }
      + changed("limits") { $0.limits } + changed("keepalive") { $0.keepalive } + changed("log") { $0.log }
      + changed("group") { $0.groups } + changed("command") { $0.commands }
      + changed("handler") { $0.handlers }
      + changed("commands") { $0.isolation }
      + changed("room") { $0.rooms }
      + changed("http") { $0.http } + changed("webhook") { $0.webhooks }
  }
}
