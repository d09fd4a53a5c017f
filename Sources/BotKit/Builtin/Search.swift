import EventLoop
import Glibc
import JID

/// What to look for in the archive.
public struct SearchQuery: Sendable, Hashable {
  public let words: [String]
  /// Only the conversation with this contact; nil: all.
  public let peer: JID?
  /// Only what came before this moment, that of the question: microseconds since 1970 UTC.
  public let before: Int64
  public let limit: Int
}

/// One message found.
public struct SearchHit: Sendable, Hashable {
  /// Microseconds since 1970 UTC.
  public let time: Int64
  public let peer: JID
  /// Sent by the bot.
  public let outgoing: Bool
  public let body: String

  public init(time: Int64, peer: JID, outgoing: Bool, body: String) {
    self.time = time
    self.peer = peer
    self.outgoing = outgoing
    self.body = body
  }
}

/// Searches, newest first, and calls back on the loop: with nil when the archive cannot be searched now.
public typealias SearchService =
  @Sendable @LoopActor (SearchQuery, @escaping @LoopActor ([SearchHit]?) -> Void) -> Void

/// `search WORDS`: messages of one's own conversation with the bot; for administrators of all. In a chat only, since a
/// room would read the answer.
struct Search: WaitingCommand {
  static let description = CommandDescription(
    name: "search", description: "Look for words in our conversation", usage: "search WORDS…", allow: [.everyone])
  static let limit = 10

  let service: SearchService
  let access: AccessPolicy

  var takesText: Bool { true }

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let running = Abandonable(events)
    let sender = request.message.sender
    let admin = request.message.address.map(access.isAdmin) ?? false
    guard !request.arguments.isEmpty else {
      events.finish(.usage)
      return running
    }
    let query = SearchQuery(
      words: request.arguments, peer: admin ? nil : sender, before: request.message.time, limit: Self.limit)
    service(query) { hits in
      guard let hits else { return events.finish(.tryLater) }
      if hits.isEmpty { return events.finish(.done, "Nothing found. Try fewer or other words.") }
      let more = hits.count >= Self.limit ? "\n(the newest \(Self.limit); add a word to narrow it down)" : ""
      events.finish(.done, hits.map { Self.line($0, naming: admin) }.joined(separator: "\n") + more)
    }
    return running
  }

  private static func line(_ hit: SearchHit, naming: Bool) -> String {
    let who = hit.outgoing ? (naming ? "to \(hit.peer)" : "me") : (naming ? "\(hit.peer)" : "you")
    let flat = hit.body.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let short = flat.prefix(200)
    return "\(date(hit.time)) \(who): \(short)\(short.endIndex == flat.endIndex ? "" : "…")"
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
