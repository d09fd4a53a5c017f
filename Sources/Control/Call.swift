import Archive
import Configuration
import Daemon
import Glibc
import Systemd

/// One use of a verb: what was typed behind it, and what it is about.
struct Call: Sendable {
  let words: [String]
  let options: [String: String]
  let environment: [String: String]

  /// Output for programs.
  var json: Bool { options["--json"] != nil }

  private var configuration: String { options["--config"]?.absolutePath ?? Settings.defaultFile }

  /// The configuration, checked; each mistake is a line.
  func settings() throws(ControlFailure) -> Settings {
    do throws(ConfigurationProblems) {
      return try Settings.load(path: configuration, environment: environment)
    } catch {
      throw ControlFailure(.configuration, error.description)
    }
  }

  /// A connection to the running daemon; nil when there is none.
  func daemonIfRunning() throws(ControlFailure) -> DaemonConnection? {
    let known = Settings.controlSocket(path: configuration, environment: environment)
    guard let path = options["--socket"]?.absolutePath ?? known else {
      throw ControlFailure(.configuration, "no control socket is known; name it with --socket PATH")
    }
    return try DaemonConnection(path)
  }

  func daemon() throws(ControlFailure) -> DaemonConnection {
    if let connection = try daemonIfRunning() { return connection }
    if let socket = options["--socket"] {
      throw ControlFailure(.notRunning, "nobody listens on \(socket); check --socket, and that xmppbotd runs")
    }
    if access(configuration, F_OK) != 0 {
      throw ControlFailure(
        .notRunning,
        "xmppbotd is not running, and \(configuration) does not exist; name its configuration with --config")
    }
    if let unit, UnitProperties(unit + ".service")?.hasFailed == true {
      throw ControlFailure(
        .notRunning, "xmppbotd is not running: it failed, and says why in: journalctl -u \(unit) -x -n 20")
    }
    throw ControlFailure(.notRunning, "xmppbotd is not running; start it with: \(startCommand)")
  }

  /// The unit that runs the daemon with this configuration; nil for one that is run by hand.
  var unit: String? {
    if configuration == Settings.defaultFile { return "xmppbotd" }
    let (folder, ending) = ("/etc/xmppbotd/", ".conf")
    guard configuration.hasPrefix(folder), configuration.hasSuffix(ending) else { return nil }
    return "xmppbotd@" + configuration.dropFirst(folder.count).dropLast(ending.count)
  }

  /// What starts the daemon with this configuration: one of the two units, or by hand.
  var startCommand: String {
    unit.map { "systemctl start \($0)" } ?? "xmppbotd --config \(configuration)"
  }

  /// What has the new values of keys that wait for a restart come into force.
  var restartCommand: String { startCommand.replacing("systemctl start", with: "systemctl restart") }

  /// The archive's path; an error if it is not for whoever uses this program.
  func readableArchive() throws(ControlFailure) -> String {
    let path = try settings().archive.path
    if access(path, R_OK) != 0, errno == EACCES {
      throw ControlFailure(.notAllowed, "\(path): you may not read the archive; use sudo, or become the bot's user")
    }
    return path
  }

  /// Reads the archive's file, for when no daemon runs.
  func readArchive(_ body: (ArchiveReader) throws(ArchiveError) -> Void) throws(ControlFailure) {
    let path = try readableArchive()
    do throws(ArchiveError) {
      try body(try ArchiveReader.open(path: path))
    } catch {
      throw ControlFailure(error.exitCode, error.description)
    }
  }
}
