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
  /// So many messages with these words are looked at, the newest, whosever they are; nil: all.
  public let candidates: Int?
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

/// `search WORDS`: messages of one's own conversation with the bot; for administrators of all. In a chat only, since a
/// room would read the answer.
struct Search: WaitingCommand {
  static let description = CommandDescription(
    name: "search", description: "Look for words in our conversation", usage: "search WORDS…", allow: [.everyone])
  static let limit = 10
  /// A word that is in everybody's messages would otherwise have all of them read for one contact, who may ask again and again.
  static let candidates = 100_000

  let service: SearchService
  let access: AccessPolicy

  var takesText: Bool { true }

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let running = Running(events)
    let sender = request.message.sender
    let admin = request.message.address.map(access.isAdmin) ?? false
    guard !request.arguments.isEmpty else {
      events.finish(.usage)
      return running
    }
    let query = SearchQuery(
      words: request.arguments, peer: admin ? nil : sender, before: request.message.time, limit: Self.limit,
      candidates: admin ? nil : Self.candidates)
    running.cancel = service(query) { result in
      guard let result else { return events.finish(.tryLater) }
      events.finish(.done, Self.text(result, naming: admin))
    }
    return running
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

  private static func text(_ result: SearchResult, naming: Bool) -> String {
    let isFull = result.hits.count >= limit
    if result.isPartial, !isFull {
      let found = result.hits.isEmpty ? ["Nothing found."] : result.hits.map { line($0, naming: naming) }
      let rest = "(Older messages were not looked at: too many have these words. Add a rarer word.)"
      return (found + [rest]).joined(separator: "\n")
    }
    if result.hits.isEmpty { return "Nothing found. Try fewer or other words." }
    let more = isFull ? "\n(the newest \(limit); add a word to narrow it down)" : ""
    return result.hits.map { line($0, naming: naming) }.joined(separator: "\n") + more
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
