import Glibc
import JSON

/// The daemon as it was built, with a configuration and an archive in a scratch folder of its own.
final class Bot {
  let account: Account
  let scratch: Scratch
  /// The lines of [account].
  var connection: [(key: String, value: String)]
  /// The other sections.
  var sections: String
  /// Which of the built programs.
  var executable = "xmppbotd"
  /// Words before the daemon's own, of a program that becomes the daemon: `ip netns exec`, faketime, prlimit.
  var launcher: [String] = []
  /// The folder of the archive, if it is not the scratch folder.
  var archiveFolder: String?
  private(set) var program: Program?
  private(set) var fullJID = ""

  /// With an account of its own on `server`, unless one is given. `sections`: what the configuration says besides
  /// [account], [archive] and [control].
  init(on server: Server, account: Account? = nil, sections: String = "") throws {
    let account = try account ?? server.account("bot")
    self.account = account
    self.sections = sections
    scratch = try Scratch()
    connection = [
      ("jid", account.jid), ("password-file", scratch.file("password")), ("host", server.host), ("port", server.port),
      ("tls", "starttls"), ("ca-file", server.authority),
    ]
    try scratch.write(account.password + "\n", to: "password", mode: 0o600)
  }

  var configuration: String { scratch.file("xmppbotd.conf") }
  var archivePath: String { archiveFolder.map { $0 + "/archive.db" } ?? scratch.file("archive.db") }

  func set(_ key: String, _ value: String?) {
    connection.removeAll { $0.key == key }
    if let value { connection.append((key, value)) }
  }

  /// Adds an executable file to commands.d.
  func addCommand(_ name: String, _ script: String) throws {
    try scratch.write("#!/bin/sh\n" + script + "\n", to: "commands.d/" + name, mode: 0o755)
  }

  func writeConfiguration() throws {
    let account = connection.map { "\($0.key) = \($0.value)" }.joined(separator: "\n")
    try scratch.write(
      """
      [account]
      \(account)

      [archive]
      path = \(archivePath)

      [control]
      socket = \(scratch.file("control.sock"))

      \(sections)

      """, to: "xmppbotd.conf")
  }

  /// Starts the daemon. `environment` is added to ours.
  func start(environment: [String: String] = [:]) throws {
    try writeConfiguration()
    program = try Program(
      launcher + ["\(Self.programs)/\(executable)", "--config", configuration], environment: environment,
      output: scratch.file("log"))
  }

  /// Starts the daemon and waits until it is online.
  @discardableResult
  func startOnline(environment: [String: String] = [:]) throws -> Bot {
    try start(environment: environment)
    try awaitOnline()
    return self
  }

  func awaitOnline(within time: Duration = .seconds(60)) throws {
    let line = try logged("online: online as ", within: time)
    fullJID = String(line.split(separator: " online as ").last?.prefix { $0 != "," } ?? "")
  }

  /// Waits for a line of the log that contains `text`, among those not yet taken.
  @discardableResult
  func logged(_ text: String, within time: Duration = .seconds(30)) throws -> String {
    guard let program else { throw Problem("the bot was not started") }
    return try program.line(within: time) { $0.contains(text) }
  }

  /// Counts all lines of the log as taken.
  func forgetLog() { _ = program?.output.takeAll() }

  func signal(_ number: Int32) { program?.signal(number) }

  func exit(within time: Duration = .seconds(30)) throws -> Program.Exit {
    guard let program else { throw Problem("the bot was not started") }
    return try program.exit(within: time)
  }

  /// Ends it as a service manager would.
  func stop() throws -> Program.Exit {
    signal(SIGTERM)
    return try exit()
  }

  /// Everything that it has written so far.
  var log: String { program?.output.text ?? "" }

  /// Rows of the archive, as anybody reads them with sqlite3.
  func rows(_ query: String) throws -> [JSON] {
    let text = try Program.run(["/usr/bin/sqlite3", "-readonly", "-json", archivePath, query])
    guard !text.isEmpty else { return [] }
    return try JSON(parsing: Array(text.utf8)).arrayValue ?? []
  }

  /// A contact that talks to this bot, with an account of its own on `server` unless one is given.
  func peer(on server: Server, account: Account? = nil) throws -> Peer {
    try Peer(try account ?? server.account("alice"), on: server, talkingTo: self)
  }

  /// Runs xmppbotctl with this bot's configuration to its end.
  func control(_ arguments: String..., input: String? = nil) throws -> (exit: Program.Exit, output: String) {
    try control(arguments, input: input)
  }

  func control(_ arguments: [String], input: String? = nil) throws -> (exit: Program.Exit, output: String) {
    let file = scratch.file("control.\(Counter.next())")
    let program = try Program([Self.programs + "/xmppbotctl", "--config", configuration] + arguments, output: file)
    if let input { program.write(input) }
    program.closeInput()
    return (try program.exit(within: .seconds(60)), contents(of: file))
  }

  /// The folder of the built programs: said by the environment, else that of the running tests.
  static let programs: String = {
    if let path = getenv("XMPPBOTD_PROGRAMS") { return String(cString: path) }
    guard let path = realpath("/proc/self/exe", nil) else { return "." }
    defer { free(path) }
    return String(String(cString: path).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 })
  }()
}
