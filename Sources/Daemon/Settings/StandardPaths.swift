import Glibc

/// Where archive and control socket are when the configuration does not say.
///
/// Under systemd in `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY`. Without these variables, for root and for files in
/// /etc/xmppbotd, in the same places as the service with that configuration has them, so that xmppbotctl finds a running
/// daemon; for anybody else's file below `$XDG_STATE_HOME` (or ~/.local/state) and `$XDG_RUNTIME_DIR`.
public struct StandardPaths: Sendable, Hashable {
  /// Nil where the environment names no place.
  public let archive: String?
  /// Nil where the environment names no place.
  public let socket: String?
  /// Where the commands' service listens, if it is there; nil for configurations that no unit of ours uses.
  public let commandsSocket: String?
  /// One of our units runs the daemon: it gives it a folder for its state.
  public let isService: Bool

  public init(configurationFile: String, environment: [String: String], isRoot: Bool = geteuid() == 0) {
    let name = Self.instance(of: configurationFile)
    let isSystem = isRoot || configurationFile.hasPrefix("/etc/")
    let state =
      Self.first(environment["STATE_DIRECTORY"])
      ?? (isSystem ? "/var/lib/\(name)" : Self.userState(environment).map { "\($0)/\(name)" })
    let runtime =
      Self.first(environment["RUNTIME_DIRECTORY"])
      ?? (isSystem ? "/run/\(name)" : Self.absolute(environment["XDG_RUNTIME_DIR"]).map { "\($0)/\(name)" })
    isService = environment["STATE_DIRECTORY"] != nil
    archive = state.map { $0 + "/archive.db" }
    socket = runtime.map { $0 + "/control.sock" }
    commandsSocket =
      configurationFile.hasPrefix("/etc/xmppbotd/")
      ? "/run/xmppbotd-commands\(name.dropFirst("xmppbotd".count)).sock" : nil
  }

  /// `xmppbotd` for `xmppbotd.conf`, `xmppbotd-work` for `work.conf`: as the units xmppbotd and xmppbotd@work name theirs.
  private static func instance(of file: String) -> String {
    var name = file.split(separator: "/").last ?? "xmppbotd"
    if name.hasSuffix(".conf") { name = name.dropLast(".conf".count) }
    return name.isEmpty || name == "xmppbotd" ? "xmppbotd" : "xmppbotd-\(name)"
  }

  /// systemd separates several folders by colons.
  private static func first(_ list: String?) -> String? {
    absolute(list.flatMap { $0.split(separator: ":").first }.map(String.init))
  }

  private static func userState(_ environment: [String: String]) -> String? {
    absolute(environment["XDG_STATE_HOME"]) ?? absolute(environment["HOME"]).map { $0 + "/.local/state" }
  }

  /// The XDG specification has relative paths ignored.
  private static func absolute(_ path: String?) -> String? {
    path.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
