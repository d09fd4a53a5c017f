import Configuration
import Daemon
import Glibc
import Systemd

/// The program xmppbotctl: finds its verb, does it, and returns the exit code (`ExitCode`).
public enum ControlProgram {
  public static func run() -> Int32 {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
      return ExitCode.done.rawValue
    } catch {
      for line in error.reason.split(separator: "\n", omittingEmptySubsequences: false) {
        Terminal.complain("xmppbotctl: \(line)")
      }
      return error.code.rawValue
    }
  }

  private static func run(_ words: [String]) throws(ControlFailure) {
    var arguments = ArgumentReader(words)
    var context = Context(environment: ProcessEnvironment.current())
    var path: [String] = []
    // Options may stand before the verb or behind it; a verb may be of two words.
    while let word = try arguments.nextWord(taking: &context) {
      if word == "help", path.isEmpty {
        context.wantsHelp = true
        continue
      }
      path.append(word)
      if let verb = Verb.all.first(where: { $0.path == path }) {
        if context.wantsHelp { return print(verb.help) }
        return try verb.run(&arguments, &context)
      }
      if !Verb.all.contains(where: { $0.path.starts(with: path) }) { throw Verb.unknown(path) }
    }
    if path.isEmpty, context.wantsVersion { return print("xmppbotctl \(Product.version)") }
    if context.wantsHelp || path.isEmpty {
      print(Verb.overview)
      if path.isEmpty, !context.wantsHelp { throw ControlFailure(.usage, "name a verb") }
      return
    }
    let further = Verb.all.filter { $0.path.starts(with: path) }.map { $0.path.joined(separator: " ") }
    throw ControlFailure(
      .usage, "'\(path.joined(separator: " "))' needs one more word: " + further.joined(separator: ", "))
  }
}

/// What every verb may need.
struct Context {
  let environment: [String: String]
  var configuration = Settings.defaultFile
  var socket: String?
  /// Output for programs.
  var json = false
  var wantsHelp = false
  var wantsVersion = false

  init(environment: [String: String]) {
    self.environment = environment
  }

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
    guard let path = socket ?? Settings.controlSocket(path: configuration, environment: environment) else {
      throw ControlFailure(.configuration, "no control socket is known; name it with --socket PATH")
    }
    return try DaemonConnection(path)
  }

  func daemon() throws(ControlFailure) -> DaemonConnection {
    if let connection = try daemonIfRunning() { return connection }
    if let socket {
      throw ControlFailure(.notRunning, "nobody listens on \(socket); check --socket, and that xmppbotd runs")
    }
    if access(configuration, F_OK) != 0 {
      throw ControlFailure(
        .notRunning,
        "xmppbotd is not running, and \(configuration) does not exist; name its configuration with --config")
    }
    throw ControlFailure(.notRunning, "xmppbotd is not running; start it with: \(startCommand)")
  }

  /// What starts the daemon with this configuration: one of the two units, or by hand.
  var startCommand: String {
    if configuration == Settings.defaultFile { return "systemctl start xmppbotd" }
    let (folder, ending) = ("/etc/xmppbotd/", ".conf")
    guard configuration.hasPrefix(folder), configuration.hasSuffix(ending) else {
      return "xmppbotd --config \(configuration)"
    }
    return "systemctl start xmppbotd@" + configuration.dropFirst(folder.count).dropLast(ending.count)
  }
}
