import XMPPStanzas

/// How a catch-up ended.
public enum CatchUpOutcome: Sendable, Hashable, CustomStringConvertible {
  /// All that the archive has is here; so many messages came from it.
  case upToDate(archived: Int)
  /// There is no archive to be asked, and why: what was sent while nobody listened is the server's to keep.
  case unavailable(String)
  /// The archive has more than it told, and why. What is missing comes with a later catch-up from the same cursor.
  case incomplete(String)

  /// Whether the stanza-id of a live message may become the cursor: while something is missing, it must stay before that.
  public var movesCursor: Bool {
    if case .upToDate = self { true } else { false }
  }

  public var description: String {
    switch self {
    case .upToDate(let archived): "up to date, \(archived) messages fetched"
    case .unavailable(let reason): "no archive: \(reason)"
    case .incomplete(let reason): "incomplete: \(reason)"
    }
  }
}

/// What a catch-up may not have brought.
public enum CatchUpGap: Sendable, Hashable, CustomStringConvertible {
  /// The archive no longer knows the last message that was fetched. It was asked for all since then, in microseconds since
  /// 1970, UTC; nil for all that it has.
  case forgotten(since: Int64?)
  /// The archive said that it is not sure yet of what it tells.
  case unstable

  public var description: String {
    switch self {
    case .forgotten(let since):
      "the archive no longer knows the last message fetched from it; it is asked for all \(since.map { "since " + Timestamp.format($0, wholeSeconds: true) } ?? "that it has"), and what it deleted of the time between is missing"
    case .unstable: "the archive says that its answers are not settled yet; messages may be missing"
    }
  }
}
