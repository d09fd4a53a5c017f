import XML
import XMPPStream

/// Whether the server has what was sent, where it knows no stream management: a ping that follows is answered when the
/// server has handled all before it (RFC 6120 section 10.1). Pure.
struct PingConfirmation {
  private var sent: [(element: Element, token: String)] = []
  /// So many of them were sent before the ping that is under way.
  private var asked: Int?
  /// The server has answered on this stream.
  private(set) var hasAnswer = false

  /// What is sent and not confirmed.
  var count: Int { sent.count }
  var isCongested: Bool { count > StreamManagement.congestion }
  /// The oldest that is not confirmed.
  var first: (element: Element, token: String?)? { sent.first.map { ($0.element, $0.token) } }

  mutating func sent(_ element: Element, token: String) { sent.append((element, token)) }

  /// Whether it is time for a ping; then it counts as sent. `always`: also before anything is sent, to see whether the
  /// server listens.
  mutating func ask(always: Bool) -> Bool {
    guard asked == nil, !sent.isEmpty || (always && !hasAnswer) else { return false }
    asked = sent.count
    return true
  }

  /// No answer came.
  mutating func unanswered() { asked = nil }

  /// The answer came: what it confirms.
  mutating func answered() -> [String] {
    let confirmed = sent.prefix(asked ?? 0).map(\.token)
    sent.removeFirst(confirmed.count)
    asked = nil
    hasAnswer = true
    return confirmed
  }
}
