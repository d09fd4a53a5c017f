import Archive
import BotKit
import EventLoop
import JID
import SQLite
import XMPPClient

/// From the configuration to the commands that the bot offers.
struct CommandSetup {
  var commands = CommandTable()
  var access: AccessPolicy
  var faults: [CommandDiagnostic]

  /// - Parameter launcher: what starts their programs.
  init(
    _ settings: Settings, launcher: any ProgramLauncher, handlers: [any CommandHandler], longRunning: [Command] = [],
    services: (_ access: AccessPolicy) -> [Command]
  ) {
    access = AccessPolicy(settings.groups)
    var limits = ProgramCommand.Limits()
    limits.output = settings.limits.output
    limits.resources = settings.limits.resources
    let files = CommandsDirectory.scan(path: settings.commandsDirectory, launcher: launcher, limits: limits)
    let configured = settings.commands.map { Command($0, launcher: launcher, limits: limits) }
    faults = files.diagnostics
    for command in services(access) + handlers.map({ Command($0) }) + configured + longRunning + files.commands {
      if let fault = commands.add(command) { faults.append(fault) }
    }
    faults += files.commands.flatMap { Self.unknownGroups(of: $0, access, settings) }
  }

  /// What starts the programs of commands and handlers: the commands' service at the socket `place`, which runs as `user` as far
  /// as that is known, or this process itself.
  static func launcher(
    at place: String?, _ user: UInt32?, _ settings: Settings, _ environment: [String: String]
  ) -> any ProgramLauncher {
    if let place { return ServiceLauncher(socket: place, user: user) }
    let folder =
      environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init) ?? settings.archive.path.parentFolder
    return DirectLauncher(stateBase: folder + "/commands")
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
}

extension ArchiveGate {
  /// The built-in `search`. What it returns gives it up.
  func search(
    _ query: BotKit.SearchQuery, _ found: @escaping @LoopActor (SearchResult?) -> Void
  ) -> @LoopActor () -> Void {
    let words = query.words.map { "\"\($0.filter { $0 != "\"" })\"" }.joined(separator: " ")
    guard let text = try? ArchiveSearch(words) else {
      found(SearchResult([]))
      return {}
    }
    let filter = MessageFilter(until: query.before, view: MessageFilter.View(query.scope))
    let cursor = SearchCursor(text, filter, limit: query.limit)
    let read = PageRead(cursor, size: query.limit, lookingAt: query.candidates ?? .max)
    let handle = archive.read(read) { result in
      LoopActor.assumeIsolated {
        guard case .success(let page) = result else { return found(nil) }
        found(
          SearchResult(
            page.rows.compactMap(SearchHit.init), isPartial: page.next != nil && page.rows.count < query.limit))
      }
    }
    return { handle.cancel() }
  }
}

extension AccessPolicy {
  init(_ groups: [Settings.Group]) {
    self.init()
    for group in groups {
      // The only members that this refuses, other groups, are refused where the configuration is read.
      try? add(group.members, toGroup: group.name)
    }
  }
}

extension SearchHit {
  init?(_ row: MessageRow) {
    guard let peer = try? JID(row.peer) else { return nil }
    self.init(
      time: row.time, peer: peer, outgoing: row.direction == .out, body: row.body ?? row.subject ?? "",
      nick: row.kind == .groupchat ? row.nick ?? peer.description : nil)
  }
}

extension MessageFilter.View {
  /// Nil: everything.
  fileprivate init?(_ scope: BotKit.SearchQuery.Scope) {
    switch scope {
    case .everything: return nil
    case .conversation(let peer, let rooms): self.init(peer: peer.description, rooms: rooms.map(\.description))
    case .room(let room): self.init(peer: nil, rooms: [room.description])
    }
  }
}

extension Command {
  init(_ settings: Settings.CommandSettings, launcher: any ProgramLauncher, limits: ProgramCommand.Limits) {
    var limits = limits
    limits.resources = settings.resources.completed(by: limits.resources)
    self.init(
      CommandDescription(
        name: settings.name, description: settings.description ?? "", usage: settings.usage,
        allow: settings.allow, places: Places(settings.places), reruns: settings.reruns, fields: settings.fields),
      ProgramCommand(
        words: settings.exec, launcher: launcher, style: settings.output, isLive: settings.isLive, limits: limits),
      origin: "[command \(settings.name)]", allowOrigin: settings.allowOrigin, timeout: settings.timeout)
  }
}

extension Places {
  init(_ places: Set<Settings.CommandSettings.Place>) {
    self = []
    if places.contains(.chat) { insert(.chat) }
    if places.contains(.room) { insert(.room) }
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

extension String {
  /// The folder of the file that this path names.
  var parentFolder: String { lastIndex(of: "/").map { String(self[..<$0]) } ?? "." }
}
