import Archive
import JID

/// Which messages came before: a client that was cut off sends again what it got no receipt for, under the same id. The
/// text counts, too, for there are clients whose ids begin anew with each start. Bounded; the oldest are forgotten first.
struct Repetitions {
  private struct Key: Hashable {
    var sender: JID
    var id: String
    /// The hash of the text.
    var text: Int
  }

  private var seen: Set<Key> = []
  private var order: [Key] = []
  private var oldest = 0
  private let capacity: Int

  init(capacity: Int = 2_000) {
    self.capacity = capacity
  }

  /// What came in an earlier process.
  mutating func remember(_ message: RecentMessage) {
    guard let bare = try? JID(message.peer), let body = message.body else { return }
    let sender = message.resource.flatMap { try? bare.with(receivedResource: $0) } ?? bare
    _ = isRepeated(message.messageID, body, from: sender)
  }

  /// True when `sender` has sent this text under this id before; remembers it.
  mutating func isRepeated(_ id: String, _ text: String, from sender: JID) -> Bool {
    let key = Key(sender: sender, id: id, text: text.hashValue)
    guard seen.insert(key).inserted else { return true }
    if order.count < capacity {
      order.append(key)
    } else {
      seen.remove(order[oldest])
      order[oldest] = key
      oldest = (oldest + 1) % capacity
    }
    return false
  }
}
