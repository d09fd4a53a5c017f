import EventLoop
import Glibc
import JID
import JSON

/// Whether a contact is there, as a handler is told.
public struct ContactPresence: Sendable, Hashable {
  public var contact: JID
  public var resource: String?
  public var isAvailable: Bool
  /// away, chat, dnd or xa (RFC 6121 section 4.7.2.1); nil: simply there.
  public var show: String?
  public var status: String?
  /// Microseconds since 1970 UTC.
  public var time: Int64
  /// In a room: as whom; `contact` is the room then where it hides addresses.
  public var occupant: RoomOccupant?

  public init(
    contact: JID, resource: String?, isAvailable: Bool, show: String? = nil, status: String? = nil, time: Int64
  ) {
    self.contact = contact.bare
    self.resource = resource
    self.isAvailable = isAvailable
    self.show = show
    self.status = status
    self.time = time
  }
}

/// What the daemon says to a handler, one line each.
enum HandlerEvents {
  /// Of the protocol; it grows when an old handler would misunderstand a new daemon.
  static let version = 1

  static func hello(_ handler: HandlerDescription, jid: String, commands: [String]) -> JSON {
    [
      "type": "hello", "version": .int(version), "handler": .string(handler.name), "jid": .string(jid),
      "commands": .array(commands.map(JSON.string)),
      "events": .array(HandlerDescription.Event.allCases.filter(handler.events.contains).map { .string($0.rawValue) }),
    ]
  }

  static func command(_ id: String, _ request: CommandRequest) -> JSON {
    var members: JSONObject = [
      "type": "command", "id": .string(id), "command": .string(request.command),
      "args": .array(request.arguments.map(JSON.string)), "text": .string(request.text),
      "body": .string(request.message.body),
    ]
    add(request.message, to: &members)
    if let choice = request.choice {
      members["choice"] = ["number": .int(choice.number), "text": .string(choice.text), "asked": .string(choice.asked)]
    }
    return .object(members)
  }

  static func message(_ id: String, _ message: ChatMessage) -> JSON {
    var members: JSONObject = ["type": "message", "id": .string(id), "text": .string(message.body)]
    add(message, to: &members)
    return .object(members)
  }

  static func presence(_ presence: ContactPresence) -> JSON {
    var members: JSONObject = [
      "type": "presence", "from": .string(presence.contact.description), "resource": .text(presence.resource),
      "available": .bool(presence.isAvailable), "show": .text(presence.show), "status": .text(presence.status),
      "time": .string(time(presence.time)),
    ]
    if let occupant = presence.occupant { add(occupant, to: &members) }
    return .object(members)
  }

  static func room(_ event: RoomEvent) -> JSON {
    var members: JSONObject = [
      "type": "room", "event": .string(event.kind.rawValue), "room": .string(event.room.description),
      "self": .bool(event.isOwn), "time": .string(time(event.time)),
    ]
    if let occupant = event.occupant {
      members["from"] = .text(occupant.address?.description)
      add(occupant, to: &members)
    } else {
      members["nick"] = .text(event.nick)
    }
    if let subject = event.subject { members["subject"] = .string(subject) }
    if let before = event.before { members["before"] = .string(before) }
    if let reason = event.reason { members["reason"] = .string(reason) }
    return .object(members)
  }

  private static func add(_ occupant: RoomOccupant, to members: inout JSONObject) {
    members["room"] = .string(occupant.room.description)
    members["nick"] = .string(occupant.nick)
    members["occupant"] = .text(occupant.id)
    members["affiliation"] = .text(occupant.affiliation?.rawValue)
    members["role"] = .text(occupant.role?.rawValue)
  }

  static func cancel(_ id: String, _ reason: CommandResult) -> JSON {
    let word =
      switch reason {
      case .timedOut: "timeout"
      case .interrupted: "stopping"
      default: "cancelled"
      }
    return ["type": "cancel", "id": .string(id), "reason": .string(word)]
  }

  static func ping(_ number: Int) -> JSON { ["type": "ping", "id": .string(String(number))] }

  static func shutdown(_ deadline: Duration) -> JSON {
    ["type": "shutdown", "deadline": .int(Int(deadline.microseconds / 1_000_000))]
  }

  /// What was wrong with a line of the handler's.
  static func error(_ text: String) -> JSON { ["type": "error", "text": .string(text)] }

  private static func add(_ message: ChatMessage, to members: inout JSONObject) {
    members["from"] = .string(message.sender.description)
    members["resource"] = .text(message.resource)
    members["nick"] = .text(message.nick)
    members["room"] = .text(message.room?.description)
    members["occupant"] = .text(message.occupantID)
    if message.room != nil {
      members["affiliation"] = .text(message.affiliation?.rawValue)
      members["role"] = .text(message.role?.rawValue)
      members["private"] = .bool(message.isPrivate)
    }
    members["message"] = .text(message.messageID)
    members["lang"] = .text(message.lang)
    members["time"] = .string(time(message.time))
  }

  /// `2026-01-31T17:05:09.123456Z` (RFC 3339).
  static func time(_ microseconds: Int64) -> String {
    var seconds = time_t(microseconds / 1_000_000)
    var fields = tm()
    guard gmtime_r(&seconds, &fields) != nil else { return "" }
    let whole = String(unsafeUninitializedCapacity: 32) { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        $0.baseAddress.map { strftime($0, 32, "%FT%T", &fields) } ?? 0
      }
    }
    let digits = String(microseconds % 1_000_000)
    return "\(whole).\(String(repeating: "0", count: 6 - min(6, digits.count)))\(digits)Z"
  }
}

extension JSON {
  fileprivate static func text(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }
}
