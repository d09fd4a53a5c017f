import Archive
import Configuration
import Daemon
import Glibc
import SASL
import Systemd

extension Verb {
  static let check = Verb(
    path: ["check"], options: [Option("--offline", nil, "only what needs no network")],
    summary: "Configuration, network, TLS, login and the server's abilities, step by step",
    details: """
      One line for each step: `ok`, or `!!` where all works but something is missing, with what is lost by it. The first
      failure ends it, with what to do about it.
      """
  ) { call throws(ControlFailure) in
    let settings = try call.settings()
    let json = call.json
    CheckLine("configuration", settings.file).print(asJSON: json)
    let unreadable = Reader.lines(settings, unit: call.unit)
    for line in unreadable { line.print(asJSON: json) }
    groupLine(settings).print(asJSON: json)
    let account = try AccountAccess(call)
    passwordLine(account.passwordSource, call).print(asJSON: json)
    try archiveLine(settings.archive.path).print(asJSON: json)
    try httpLine(settings, call)?.print(asJSON: json)
    if call.options["--offline"] == nil {
      let report = CheckReport(settings.account, json: json)
      try Exchange.run(account, goal: .online, floor: rememberedLogin(settings)) { report }
      if !json, unreadable.isEmpty {
        let isRunning = (try? call.daemonIfRunning()) != nil
        let start = call.startCommand.replacing("systemctl start", with: "systemctl enable --now")
        print("All that is needed works" + (isRunning ? ", and the bot runs." : ". To start the bot: \(start)"))
        print("Then add \(settings.account.jid.bare) in your client, and send it: help")
      }
    }
    guard unreadable.isEmpty else {
      let reasons = unreadable.map { "\($0.found): \($0.warning ?? "")" }
      throw ControlFailure(.configuration, "the bot would not start:\n" + reasons.joined(separator: "\n"))
    }
  }

  /// Who is an administrator: a name that is misspelt has no rights, and is seen here at best.
  private static func groupLine(_ settings: Settings) -> CheckLine {
    let members = settings.groups.first { $0.name == "admins" }?.members ?? []
    if !members.isEmpty {
      let names = members.prefix(4).map { "\($0)" }.joined(separator: ", ")
      return CheckLine("group admins", names + (members.count > 4 ? ", …" : ""))
    }
    return CheckLine(
      "group admins", "nobody",
      warning: "commands are for its members unless they say otherwise; put [group admins] into the configuration, and "
        + "below it member = you@\(settings.account.jid.domain)")
  }

  /// The strongest login that has worked: what the bot refuses for being weaker is refused here, too. Nil where there is none,
  /// or the archive can't be read.
  private static func rememberedLogin(_ settings: Settings) -> MechanismFloor? {
    guard let reader = try? ArchiveReader.open(path: settings.archive.path),
      (try? reader.queries.meta(.account)) == settings.account.jid.description
    else { return nil }
    return (try? reader.queries.meta(.saslFloor)).flatMap(MechanismFloor.init(rawValue:))
  }

  /// systemd passes on a password that others can read, too; whether they may is not known to the daemon.
  private static func passwordLine(_ source: String, _ call: borrowing Call) -> CheckLine {
    var status = stat()
    guard stat(source, &status) == 0, status.st_mode & 0o077 != 0,
      source != Credentials.path(of: "password", environment: call.environment)
    else { return CheckLine("password", source) }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    return CheckLine("password", source, warning: "others can read or write it (mode \(mode)): chmod 600 \(source)")
  }

  /// Nil where there is no HTTP.
  private static func httpLine(_ settings: Settings, _ call: borrowing Call) throws(ControlFailure) -> CheckLine? {
    guard let address = settings.http.listen else { return nil }
    do throws(ConfigurationProblems) {
      try settings.checkWebhookTokens(environment: call.environment)
    } catch {
      throw ControlFailure(.configuration, error.description)
    }
    let hooks = settings.webhooks.count
    return CheckLine("HTTP", "\(address)" + (hooks == 0 ? "" : ", \(hooks) webhook\(hooks == 1 ? "" : "s")"))
  }

  private static func archiveLine(_ path: String) throws(ControlFailure) -> CheckLine {
    guard access(path, F_OK) == 0 else { return try placeLine(ofArchive: path) }
    do throws(ArchiveError) {
      let statistics = try ArchiveReader.open(path: path).statistics()
      return CheckLine("archive", "\(path), \(statistics.count) messages")
    } catch {
      if case .damaged = error {
        return CheckLine(
          "archive", path,
          warning: "it is damaged: the bot sets it aside at its start and begins a new one; "
            + "`xmppbotctl archive recover` brings back what can be read of it")
      }
      throw ControlFailure(error.exitCode, "archive: \(error)")
    }
  }

  /// The daemon makes the archive and its folder, but not the folders above.
  private static func placeLine(ofArchive path: String) throws(ControlFailure) -> CheckLine {
    func parent(_ path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) + "/" } ?? "." }
    let folder = String(parent(path).dropLast())
    guard access(parent(path), F_OK) == 0 || access(parent(folder), F_OK) == 0 else {
      throw ControlFailure(.failed, "archive: the folder \(folder) does not exist; create it for the daemon's user")
    }
    return CheckLine("archive", "\(path) (not there yet)")
  }
}
