import Archive
import BotKit
import EventLoop
import JID
import SQLite
import XMPPClient

/// From the configuration to the commands that the bot offers.
extension Daemon {
  struct CommandSetup {
    var commands = CommandTable()
    var access = AccessPolicy()
    var faults: [CommandDiagnostic] = []
  }

  static func commandTable(
    _ settings: Settings, handlers: [any CommandHandler], gate: ArchiveGate, environment: [String: String]
  ) -> CommandSetup {
    var setup = CommandSetup()
    for group in settings.groups {
      do {
        try setup.access.add(group.members.map(AccessRule.init), toGroup: group.name)
      } catch {
        setup.faults.append(
          CommandDiagnostic(
            source: settings.file, problem: "[group \(group.name)] \(error)", remedy: "correct the list"))
      }
    }
    let services = Builtins.Services(
      search: { query, found in search(query, gate.archive, found) },
      reload: { done in Daemon.current?.reload(done: done) })
    let stateBase =
      (environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        ?? settings.archive.path.parentFolder) + "/commands"
    var limits = ProgramCommand.Limits()
    limits.output = settings.limits.output
    let files = CommandsDirectory.scan(path: settings.commandsDirectory, stateBase: stateBase, limits: limits)
    let configured = settings.commands.map { Command($0, stateBase: stateBase, limits: limits) }
    let all = Builtins.all(services, access: setup.access) + handlers.map { Command($0) } + configured + files.commands
    setup.faults += files.diagnostics + all.compactMap { setup.commands.add($0) }
    setup.faults += files.commands.flatMap { unknownGroups(of: $0, setup.access, settings) }
    return setup
  }

  /// Groups that a file names and the configuration lacks. The group of administrators may be left out; any other is a
  /// slip, for nobody is in it.
  private static func unknownGroups(
    of command: Command, _ access: AccessPolicy, _ settings: Settings
  ) -> [CommandDiagnostic] {
    command.description.allow.compactMap { rule in
      guard case .group(let name) = rule, name != AccessPolicy.adminGroup, !access.hasGroup(name) else { return nil }
      return CommandDiagnostic(
        source: command.origin, problem: "allow names the group @\(name), which is not there",
        remedy: "add [group \(name)] to \(settings.file)")
    }
  }

  /// The built-in `search`.
  private static func search(
    _ query: BotKit.SearchQuery, _ archive: Archive, _ found: @escaping @LoopActor ([SearchHit]?) -> Void
  ) {
    let words = query.words.map { "\"\($0.filter { $0 != "\"" })\"" }.joined(separator: " ")
    guard let text = try? ArchiveQuery(words) else { return found([]) }
    let filter = MessageFilter(peer: query.peer?.description)
    // One more, for the newest is the question itself, which was archived before it was run.
    let page = PageRead(SearchCursor(text, filter, limit: query.limit + 1), size: query.limit + 1)
    archive.read(page) { result in
      LoopActor.assumeIsolated {
        guard case .success(let page) = result else { return found(nil) }
        found(page.rows.dropFirst().prefix(query.limit).compactMap(SearchHit.init))
      }
    }
  }
}

extension SearchHit {
  init?(_ row: MessageRow) {
    guard let peer = try? JID(row.peer) else { return nil }
    self.init(time: row.time, peer: peer, outgoing: row.direction == .out, body: row.body ?? "")
  }
}

extension Command {
  init(_ settings: Settings.CommandSettings, stateBase: String, limits: ProgramCommand.Limits) {
    var places: Places = []
    if settings.places.contains(.chat) { places.insert(.chat) }
    if settings.places.contains(.room) { places.insert(.room) }
    self.init(
      CommandDescription(
        name: settings.name, description: settings.description ?? "", usage: settings.usage,
        allow: settings.allow.map(AccessRule.init), places: places),
      ProgramCommand(
        words: settings.exec, stateBase: stateBase, style: settings.output == .code ? .code : .text, limits: limits,
        checkTrust: true),
      origin: "[command \(settings.name)]", timeout: settings.timeout)
  }
}

extension AccessRule {
  init(_ entry: AccessEntry) {
    switch entry {
    case .jid(let jid): self = .address(jid)
    case .domain(let domain): self = .domain(domain.domain)
    case .group(let name): self = .group(name)
    case .roster: self = .roster
    case .everyone: self = .everyone
    case .none: self = .none
    }
  }
}

extension Dispatcher.Limits {
  init(_ limits: Settings.Limits) {
    self.init(concurrent: limits.concurrent, timeout: limits.timeout)
  }
}

extension RateLimit {
  init?(_ rate: Settings.Limits.Rate) {
    guard case .commands(let count, let period) = rate else { return nil }
    self.init(count: count, per: period)
  }
}

extension Router {
  @LoopActor init(_ commands: CommandTable, _ access: AccessPolicy, _ settings: Settings) {
    self.init(commands: commands, access: access, rate: RateLimit(settings.limits.rate), facts: Daemon.facts)
    maxAge = settings.limits.maxAge
  }

  @LoopActor mutating func update(_ commands: CommandTable, _ access: AccessPolicy, _ settings: Settings) {
    self.commands = commands
    self.access = access
    rate = RateLimit(settings.limits.rate)
    maxAge = settings.limits.maxAge
  }
}

extension String {
  /// The folder of the file that this path names.
  var parentFolder: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "." }
}
