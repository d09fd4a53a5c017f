import XMPPStream

/// Whether the server has what was sent, where it knows no stream management: a ping that follows is answered when the
/// server has handled all before it (RFC 6120 section 10.1). Pure.
struct PingConfirmation {
  private var tokens: [String] = []
  /// So many of them were sent before the ping that is under way.
  private var asked: Int?

  /// What is sent and not confirmed.
  var count: Int { tokens.count }
  var isCongested: Bool { count > StreamManagement.congestion }

  mutating func sent(_ token: String) { tokens.append(token) }

  /// Whether it is time for a ping; then it counts as sent.
  mutating func ask() -> Bool {
    guard asked == nil, !tokens.isEmpty else { return false }
    asked = tokens.count
    return true
  }

  /// No answer came.
  mutating func unanswered() { asked = nil }

  /// The answer came: what it confirms.
  mutating func answered() -> [String] {
    let confirmed = Array(tokens.prefix(asked ?? 0))
    tokens.removeFirst(confirmed.count)
    asked = nil
    return confirmed
  }
}
