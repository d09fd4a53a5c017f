import BotKit
import Configuration
import Glibc
import JID
import Transport
import Systemd

extension Settings {
  public static let defaultFile = "/etc/xmppbotd/xmppbotd.conf"

  /// Reads `path` and its drop-ins (`path.d/*.conf`) and checks everything that can be checked without the network. The
  /// password is read apart (`Password.load`).
  public static func load(
    path: String = defaultFile, environment: [String: String]
  ) throws(ConfigurationProblems) -> Settings {
    try read(ConfigurationParser.read(path: path), environment: environment)
  }

  /// Checks `text` as if it were the contents of `file`.
  public static func parse(
    _ text: String, file: String = defaultFile, environment: [String: String]
  ) throws(ConfigurationProblems) -> Settings {
    var parser = ConfigurationParser(file: file)
    parser.parse(Array(text.utf8), file: file)
    return try read(parser, environment: environment)
  }

  private static func read(
    _ parser: ConfigurationParser, environment: [String: String]
  ) throws(ConfigurationProblems) -> Settings {
    var reader = SettingsReader(
      document: parser.document, problems: parser.problems,
      paths: StandardPaths(configurationFile: parser.document.file, environment: environment))
    return try reader.read()
  }

  /// Where the daemon with the configuration `path` listens, as far as can be told without that configuration being
  /// right, or readable: enough to ask a daemon that runs. Nil where the environment names no place.
  public static func controlSocket(path: String = defaultFile, environment: [String: String]) -> String? {
    ConfigurationParser.read(path: path).document.section("control")?.value(of: SettingsSchema.Control.socket)
      ?? StandardPaths(configurationFile: path, environment: environment).socket
  }
}

/// Makes settings of a document, and goes on after a mistake so that all are found.
struct SettingsReader {
  let document: ConfigurationDocument
  var problems: [Diagnostic]
  let paths: StandardPaths

  mutating func read() throws(ConfigurationProblems) -> Settings {
    // A file that cannot be read at all lacks every key; saying so, too, would only hide the reason.
    if !document.sections.isEmpty || problems.isEmpty {
      problems += SettingsSchema.schema.problems(in: document)
    }
    let account = account()
    let archive = archive(default: paths.archive)
    let control = control(default: paths.socket)
    let isolation = isolation()
    // The commands' service may see what the daemon's own sandbox hides; it looks before each run. Root sees everything.
    let seesPrograms = geteuid() == 0 || isolation.place() == nil
    let groups = groups()
    let subscriptions = subscriptions(groups: groups)
    let commands = document.sections("command").compactMap { command($0, groups: groups, seesPrograms) }
    let handlers = document.sections("handler").compactMap { handler($0, groups: groups, seesPrograms) }
    let http = http()
    let rooms = rooms(account: account?.jid, groups: groups)
    let webhooks = document.sections("webhook").compactMap { webhook($0) }
    guard problems.isEmpty, let account, let archive, let limits = limits(), let keepalive = keepalive(),
      let control, let log = log(), let subscriptions
    else { throw ConfigurationProblems(problems) }
    return Settings(
      file: document.file, account: account, subscriptions: subscriptions, archive: archive, limits: limits,
      keepalive: keepalive, control: control, isolation: isolation, log: log, groups: groups, commands: commands,
      handlers: handlers, http: http, webhooks: webhooks, rooms: rooms)
  }

  private mutating func account() -> Settings.Account? {
    typealias Keys = SettingsSchema.Account
    let section = document.sectionOrDefaults("account")
    let host = section.value(of: Keys.host)
    if host == nil, !section.entries(of: "port").isEmpty, section.entries(of: "host").isEmpty {
      report(section, "port", "`port` is given without `host`", "add `host`, or leave `port` to DNS")
    }
    for key in [Keys.caFile, Keys.avatar] {
      if let file = section.value(of: key) { check(OperatorFile.problemAsReadable(file), of: file, key, in: section) }
    }
    guard let jid = section.value(of: Keys.jid), let tls = section.value(of: Keys.tls),
      let priority = section.value(of: Keys.priority)
    else { return nil }
    let resource = section.value(of: Keys.resource)
    if let resource {
      do throws(JIDError) {
        _ = try jid.with(resource: resource)
      } catch {
        report(section, "resource", "resource = \(resource) is no resource: \(error)", "choose another name")
      }
    }
    return Settings.Account(
      jid: jid, passwordFile: section.value(of: Keys.passwordFile), resource: resource, host: host,
      port: section.value(of: Keys.port).map { UInt16(clamping: $0) }, tls: tls,
      caFile: section.value(of: Keys.caFile), publicKeyPins: section.values(of: Keys.publicKeyPin),
      priority: Int8(clamping: priority), nickname: section.value(of: Keys.nickname),
      avatar: section.value(of: Keys.avatar), status: section.value(of: Keys.status))
  }

  private mutating func subscriptions(groups: [Settings.Group]) -> Settings.Subscriptions? {
    typealias Keys = SettingsSchema.Subscriptions
    let section = document.sectionOrDefaults("subscriptions")
    let accept = section.values(of: Keys.accept)
    checkGroups(of: accept, "accept", in: section, groups: groups)
    return section.value(of: Keys.group).map { .init(accept: accept, group: $0) }
  }

  private mutating func archive(default path: String?) -> Settings.ArchiveSettings? {
    typealias Keys = SettingsSchema.Archive
    let section = document.sectionOrDefaults("archive")
    let path = section.value(of: Keys.path) ?? path
    if path == nil, section.entries(of: "path").isEmpty {
      report(section, "path", "there is no `path`, $STATE_DIRECTORY or $HOME", "add `path` to [archive]")
    }
    guard let path, let keep = section.value(of: Keys.keep), let rawXML = section.value(of: Keys.rawXML),
      let sync = section.value(of: Keys.sync)
    else { return nil }
    return Settings.ArchiveSettings(path: path, keep: keep, rawXML: rawXML, sync: sync)
  }

  private func limits() -> Settings.Limits? {
    typealias Keys = SettingsSchema.Limits
    let section = document.sectionOrDefaults("limits")
    guard let rate = section.value(of: Keys.rate), let roomRate = section.value(of: Keys.roomRate),
      let timeout = section.value(of: Keys.timeout),
      let output = section.value(of: Keys.output), let concurrent = section.value(of: Keys.concurrent),
      let maxAge = section.value(of: Keys.maxAge)
    else { return nil }
    let resources = ResourceLimits(
      memory: section.value(of: Keys.memory), processes: section.value(of: Keys.processes),
      seconds: section.value(of: Keys.cpu))
    return Settings.Limits(
      rate: rate, roomRate: roomRate, timeout: timeout, output: output, concurrent: concurrent, maxAge: maxAge,
      resources: resources)
  }

  private func keepalive() -> Settings.Keepalive? {
    typealias Keys = SettingsSchema.Keepalive
    let section = document.sectionOrDefaults("keepalive")
    guard let interval = section.value(of: Keys.interval), let timeout = section.value(of: Keys.timeout) else {
      return nil
    }
    return Settings.Keepalive(interval: interval, timeout: timeout)
  }

  private mutating func control(default path: String?) -> Settings.Control? {
    let section = document.sectionOrDefaults("control")
    guard let path = section.value(of: SettingsSchema.Control.socket) ?? path else {
      if section.entries(of: "socket").isEmpty {
        report(
          section, "socket", "there is no `socket`, $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR", "add `socket` to [control]"
        )
      }
      return nil
    }
    // sockaddr_un has room for 107 bytes and a zero (unix(7)).
    if path.utf8.count > 107 {
      report(section, "socket", "the socket's path \(path) is longer than 107 bytes", "choose a shorter one")
    }
    return Settings.Control(socket: path)
  }

  private mutating func isolation() -> Settings.Isolation {
    typealias Keys = SettingsSchema.Commands
    let section = document.sectionOrDefaults("commands")
    let given = section.value(of: Keys.socket)
    let isWanted = section.value(of: Keys.isolated)
    if isWanted == false {
      if given != nil {
        report(section, "socket", "`socket` is given with `isolated = no`", "leave one of them out")
      }
      return Settings.Isolation(socket: nil)
    }
    guard let socket = given ?? paths.commandsSocket else {
      if isWanted == true {
        report(
          section, "isolated", "where the commands' service listens is known for files in /etc/xmppbotd only",
          "write it as socket =")
      }
      return Settings.Isolation(socket: nil)
    }
    return Settings.Isolation(
      socket: socket, isRequired: given != nil || isWanted == true || paths.isService)
  }

  private func log() -> Settings.Log? {
    let section = document.sectionOrDefaults("log")
    guard let level = section.value(of: SettingsSchema.Log.level), let xml = section.value(of: SettingsSchema.Log.xml)
    else { return nil }
    return Settings.Log(level: level, xml: xml)
  }

  private func groups() -> [Settings.Group] {
    document.sections("group").compactMap { section in
      section.name.map { Settings.Group(name: $0, members: section.values(of: SettingsSchema.Group.member)) }
    }
  }

  private mutating func command(
    _ section: ConfigurationDocument.Section, groups: [Settings.Group], _ seesPrograms: Bool
  ) -> Settings.CommandSettings? {
    typealias Keys = SettingsSchema.Command
    let allow = section.values(of: Keys.allow)
    checkGroups(of: allow, "allow", in: section, groups: groups)
    guard let name = section.name, let exec = section.value(of: Keys.exec), let program = exec.first,
      let output = section.value(of: Keys.output), let reruns = section.value(of: Keys.rerun),
      let isLive = section.value(of: Keys.live)
    else { return nil }
    if seesPrograms {
      check(OperatorFile.problemAsProgram(program), of: program, Keys.exec, in: section)
    }
    let fields = section.values(of: Keys.field)
    if let fault = CommandField.fault(in: fields) { report(section, "field", "field: \(fault.problem)", fault.remedy) }
    return Settings.CommandSettings(
      name: name, exec: exec, description: section.value(of: Keys.description), usage: section.value(of: Keys.usage),
      allow: allow, places: Set(section.values(of: Keys.places)), timeout: section.value(of: Keys.timeout),
      output: output, reruns: reruns, isLive: isLive,
      resources: ResourceLimits(
        memory: section.value(of: Keys.memory), processes: section.value(of: Keys.processes),
        seconds: section.value(of: Keys.cpu)),
      allowOrigin: section.entries(of: "allow").isEmpty ? "the default" : "\(section.location(of: "allow"))",
      fields: fields)
  }

  private mutating func handler(
    _ section: ConfigurationDocument.Section, groups: [Settings.Group], _ seesPrograms: Bool
  ) -> Settings.HandlerSettings? {
    typealias Keys = SettingsSchema.Handler
    let (allow, send) = (section.values(of: Keys.allow), section.values(of: Keys.send))
    checkGroups(of: allow, "allow", in: section, groups: groups)
    checkGroups(of: send, "send", in: section, groups: groups)
    guard let name = section.name, let exec = section.value(of: Keys.exec), let program = exec.first else { return nil }
    if seesPrograms {
      check(OperatorFile.problemAsProgram(program), of: program, Keys.exec, in: section)
    }
    return Settings.HandlerSettings(
      name: name, exec: exec, events: Set(section.values(of: Keys.events)), commands: section.values(of: Keys.commands),
      description: section.value(of: Keys.description), allow: allow, places: Set(section.values(of: Keys.places)),
      send: send, timeout: section.value(of: Keys.timeout))
  }

  /// The default `@admins` may name a group that is not there: then nobody may.
  private mutating func checkGroups(
    of entries: [AccessRule], _ key: String, in section: ConfigurationDocument.Section, groups: [Settings.Group]
  ) {
    guard !section.entries(of: key).isEmpty else { return }
    for case .group(let name) in entries where !groups.contains(where: { $0.name == name }) {
      let remedy = nearest(to: name, in: groups.map(\.name)).map { "did you mean `@\($0)`?" } ?? "add [group \(name)]"
      report(section, key, "\(key) names the group `@\(name)`, which is not there", remedy)
    }
  }

  mutating func check<Value>(
    _ problem: ValueProblem?, of file: String, _ key: Key<Value>, in section: ConfigurationDocument.Section
  ) {
    guard let problem else { return }
    let name = key.description.name
    report(section, name, "\(name): \(file) \(problem.reason)", problem.remedy)
  }

  mutating func report(
    _ section: ConfigurationDocument.Section, _ key: String, _ problem: String, _ remedy: String
  ) {
    problems.append(Diagnostic(section.location(of: key), problem, remedy: remedy))
  }
}
