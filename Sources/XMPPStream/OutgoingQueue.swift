import XML
import XMPPStanzas

/// The stanzas that went out on one managed session and that the server has not acknowledged (XEP-0198 1.6, section 4),
/// in order. Pure; counters are modulo 2^32.
struct OutgoingQueue: Sendable {
  struct Entry: Sendable {
    var element: Element
    /// What the owner knows it by; nil for what it does not follow.
    var token: String?
    /// When it was first sent: microseconds since 1970, UTC.
    var time: Int64
    var bytes: Int
  }

  private(set) var entries: [Entry] = []
  /// What they take on the wire.
  private(set) var bytes = 0
  /// How many the server has acknowledged on this session; nil before it has said so to this process.
  private var acknowledged: UInt32?
  /// We asked and have no answer yet.
  private(set) var isAsked = false

  /// `isNew`: the session begins with this process; else the server knows a count that we don't.
  init(isNew: Bool) {
    acknowledged = isNew ? 0 : nil
  }

  mutating func append(_ element: Element, token: String?, at time: Int64, bytes: Int = 0) {
    entries.append(Entry(element: element, token: token, time: time, bytes: bytes))
    self.bytes += bytes
  }

  /// How many were sent.
  var sentCount: UInt32? { acknowledged.map { $0 &+ UInt32(truncatingIfNeeded: entries.count) } }

  /// Whether it is time to ask; then the question counts as asked.
  mutating func ask() -> Bool {
    guard !isAsked, !entries.isEmpty else { return false }
    isAsked = true
    return true
  }

  /// The server has `count`; what it has now and had not before.
  ///
  /// Throws when it claims more than was sent (section 4).
  mutating func acknowledge(_ count: UInt32) throws(StreamError) -> [String] {
    isAsked = false
    guard let before = acknowledged else {
      acknowledged = count
      return []
    }
    let new = count &- before
    guard new <= UInt32(clamping: entries.count) else {
      throw StreamError(
        "undefined-condition",
        "the server acknowledged \(count) stanzas, but \(before &+ UInt32(entries.count)) were sent")
    }
    acknowledged = count
    let tokens = entries.prefix(Int(new)).compactMap(\.token)
    for entry in entries.prefix(Int(new)) { bytes -= entry.bytes }
    entries.removeFirst(Int(new))
    return tokens
  }

  /// Another stream: questions asked on the old one get no answer.
  mutating func forgetQuestion() { isAsked = false }

  /// Those with tokens are not sent again on this session; what they were.
  mutating func takeBack() -> [String] {
    let tokens = entries.compactMap(\.token)
    entries.removeAll { $0.token != nil }
    bytes = entries.reduce(0) { $0 + $1.bytes }
    return tokens
  }

  mutating func dropFirst() {
    if !entries.isEmpty { bytes -= entries.removeFirst().bytes }
  }
}
