import EventLoop
import JID

@testable import BotKit

/// A bot with a few commands and people who talk to it; what it decides, as a line of text.
struct Conversation {
  var router: Router
  var now = ContinuousClock.now

  init(rate: RateLimit? = nil, facts: BotFacts = BotFacts()) throws {
    var access = AccessPolicy()
    try access.add([.address(JID("admin@example.org"))], toGroup: "admins")
    try access.add([.domain("example.org")], toGroup: "staff")
    var table = CommandTable()
    let services = Builtins.Services(
      search: { _, done in
        done(SearchResult([]))
        return {}
      }, reload: { $0(ReloadOutcome()) })
    let own = [
      Command(
        CommandDescription(
          name: "deploy", description: "Deploy a release", usage: "deploy SERVICE [VERSION]", allow: [.group("staff")],
          places: [.chat, .room]), Nothing(), origin: "test"),
      Command(
        CommandDescription(name: "reboot", description: "Restart the machine"), Nothing(), origin: "test"),
      Command(
        CommandDescription(name: "topic", allow: [.everyone], places: .room), Nothing(), origin: "test"),
      Command(
        CommandDescription(name: "friends", allow: [.roster]), Nothing(), origin: "test"),
    ]
    for command in Builtins.all(services, access: access) + own {
      if let diagnostic = table.add(command) { throw diagnostic }
    }
    router = Router(commands: table, access: access, rate: rate, facts: facts)
    router.rooms[try JID("ops@rooms.example.org")] = RoomAddress(nick: "bot")
  }

  /// What `sender` gets for `body`: the answer's text, "(ignored: why)" or "(runs NAME: arguments)".
  mutating func say(
    _ sender: String, _ body: String, room: String? = nil, age: Duration = .zero,
    _ change: (inout ChatMessage) -> Void = { _ in }
  ) throws -> String {
    let jid = try JID(sender)
    var message = ChatMessage(
      sender: jid, body: body, resource: room == nil ? jid.resource : nil, nick: room == nil ? nil : "nick",
      room: try room.map { name throws(JIDError) in try JID(name) }, age: age)
    change(&message)
    return Self.text(router.decide(message, now: now))
  }

  static func text(_ decision: Decision) -> String {
    switch decision {
    case .ignore(let reason): return "(ignored: \(reason.rawValue))"
    case .answer(let answer): return answer.text
    case .heard: return "(heard)"
    case .run(let command):
      return "(runs \(command.request.command): \(command.request.arguments.joined(separator: "|")))"
    }
  }
}

/// A command that does nothing and ends at once.
struct Nothing: WaitingCommand {
  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    events.finish(.done, "nothing")
    return Abandonable(events)
  }
}
