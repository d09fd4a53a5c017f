import EventLoop
import Glibc
import JID

/// What to look for in the archive.
public struct SearchQuery: Sendable, Hashable {
  public let words: [String]
  public let scope: Scope
  /// Only what came before this moment, that of the question: microseconds since 1970 UTC.
  public let before: Int64
  public let limit: Int
  /// So many messages with these words are looked at, the newest, whosever they are; nil: all.
  public let candidates: Int?

  /// Where it looks.
  public enum Scope: Sendable, Hashable {
    case everything
    /// The conversation with this contact, and what was said to all in these rooms.
    case conversation(JID, rooms: [JID])
    /// What was said to all in this room.
    case room(JID)
  }
}

/// One message found.
public struct SearchHit: Sendable, Hashable {
  /// Microseconds since 1970 UTC.
  public let time: Int64
  public let peer: JID
  /// Sent by the bot.
  public let outgoing: Bool
  public let body: String
  /// It was said in the room `peer`, by this nickname.
  public let nick: String?

  public init(time: Int64, peer: JID, outgoing: Bool, body: String, nick: String? = nil) {
    self.time = time
    self.peer = peer
    self.outgoing = outgoing
    self.body = body
    self.nick = nick
  }
}

/// What a search found, newest first.
public struct SearchResult: Sendable, Hashable {
  public let hits: [SearchHit]
  /// Older messages were not looked at.
  public let isPartial: Bool

  public init(_ hits: [SearchHit], isPartial: Bool = false) {
    self.hits = hits
    self.isPartial = isPartial
  }
}

/// Searches and calls back on the loop, possibly at once: with nil when the archive cannot be searched now. What it returns
/// gives the search up; then nobody is called back.
public typealias SearchService =
  @Sendable @LoopActor (SearchQuery, @escaping @LoopActor (SearchResult?) -> Void) -> @LoopActor () -> Void

/// `search WORDS`. In a room: what was said there. In a chat: one's own conversation with the bot, and what was said in the rooms
/// in which one is at present, as far as these show the bot who is who. For administrators in a chat: everything.
struct Search: WaitingCommand {
  static let description = CommandDescription(
    name: "search", description: "Look for words in our conversation", usage: "search WORDS…", allow: [.everyone],
    places: [.chat, .room])
  static let limit = 10
  /// A word that is in everybody's messages would otherwise have all of them read for one contact, who may ask again and again.
  static let candidates = 100_000

  let service: SearchService
  let access: AccessPolicy
  /// The rooms in which the owner of an address is at present, by that address.
  let rooms: @Sendable @LoopActor (JID) -> [JID]

  var takesText: Bool { true }

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let running = Running(events)
    guard !request.arguments.isEmpty else {
      events.finish(.usage)
      return running
    }
    let message = request.message
    let scope = scope(of: message)
    let query = SearchQuery(
      words: request.arguments, scope: scope, before: message.time, limit: Self.limit,
      candidates: scope == .everything ? nil : Self.candidates)
    running.cancel = service(query) { result in
      guard let result else { return events.finish(.tryLater) }
      events.finish(.done, Self.text(result, scope))
    }
    return running
  }

  /// All who are in a room read the answer there, so it is about that room alone, whoever asks. Who writes through a room is nobody
  /// that has another conversation.
  @LoopActor private func scope(of message: ChatMessage) -> SearchQuery.Scope {
    if let room = message.room { return .room(room) }
    if access.isAdmin(message.sender) { return .everything }
    return .conversation(message.sender, rooms: rooms(message.sender))
  }

  private final class Running: RunningCommand {
    private let events: CommandEvents
    var cancel: @LoopActor () -> Void = {}

    init(_ events: CommandEvents) { self.events = events }

    func stop(_ reason: CommandResult) {
      cancel()
      events.finish(reason)
    }
  }

  private static func text(_ result: SearchResult, _ scope: SearchQuery.Scope) -> String {
    let isFull = result.hits.count >= limit
    if result.isPartial, !isFull {
      let found = result.hits.isEmpty ? ["Nothing found."] : result.hits.map { line($0, scope) }
      let rest = "(Older messages were not looked at: too many have these words. Add a rarer word.)"
      return (found + [rest]).joined(separator: "\n")
    }
    if result.hits.isEmpty { return "Nothing found. Try fewer or other words." }
    let more = isFull ? "\n(the newest \(limit); add a word to narrow it down)" : ""
    return result.hits.map { line($0, scope) }.joined(separator: "\n") + more
  }

  private static func line(_ hit: SearchHit, _ scope: SearchQuery.Scope) -> String {
    let who = who(hit, scope)
    let flat = hit.body.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let short = flat.prefix(200)
    return "\(date(hit.time)) \(who): \(short)\(short.endIndex == flat.endIndex ? "" : "…")"
  }

  private static func who(_ hit: SearchHit, _ scope: SearchQuery.Scope) -> String {
    if let nick = hit.nick {
      let speaker = hit.outgoing ? "me" : nick
      if case .room = scope { return speaker }
      return "\(speaker) in \(hit.peer)"
    }
    if case .everything = scope { return hit.outgoing ? "to \(hit.peer)" : "\(hit.peer)" }
    return hit.outgoing ? "me" : "you"
  }

  /// `2026-01-31 17:05 UTC`.
  static func date(_ microseconds: Int64) -> String {
    var seconds = time_t(microseconds / 1_000_000)
    var fields = tm()
    guard gmtime_r(&seconds, &fields) != nil else { return "?" }
    return String(unsafeUninitializedCapacity: 64) { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        $0.baseAddress.map { strftime($0, 64, "%F %H:%M UTC", &fields) } ?? 0
      }
    }
  }
}
