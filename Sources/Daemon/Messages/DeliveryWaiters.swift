import Archive
import EventLoop

/// Who waits for what becomes of messages: `xmppbotctl send`, for one.
@LoopActor
final class DeliveryWaiters {
  /// How a message fared.
  enum Fate: Sendable, Hashable {
    /// The server has it.
    case acked
    case failed(String)
  }

  /// By the message's id.
  private var waiters: [String: @LoopActor (Fate) -> Void] = [:]

  /// Calls `done` once, when the server has all of `rows`, or one of them has failed.
  func await(_ rows: [NewMessage], done: @escaping @LoopActor (Fate) -> Void) {
    let ids = rows.compactMap(\.messageID)
    var open = Set(ids)
    var isDone = false
    for id in ids {
      waiters[id] = { fate in
        open.remove(id)
        guard !isDone, fate != .acked || open.isEmpty else { return }
        isDone = true
        done(fate)
      }
    }
  }

  /// Nobody waits for these any more.
  func forget(_ rows: [NewMessage]) {
    for id in rows.compactMap(\.messageID) { waiters[id] = nil }
  }

  /// Tells whoever waits for this message.
  func tell(_ id: String, _ fate: Fate) { waiters.removeValue(forKey: id)?(fate) }
}
