import Archive
import JID

/// Which messages came before: a client that was cut off sends again what it got no receipt for, under the same id. The
/// text counts, too, for there are clients whose ids begin anew with each start, and so does the time: a script that says the
/// same under the same id every day means it. Bounded for each account and in all: one that sends without end makes us forget
/// only what it sent itself.
struct Repetitions {
  /// How long after the first a client may send a message again, microseconds: twelve hours.
  static let memory: Int64 = 12 * 3_600 * 1_000_000

  /// An account's newest messages, each as a hash of resource, id and text, and when it came.
  private struct Seen {
    var messages: [(hash: Int, time: Int64)] = []
    var oldest = 0

    mutating func isRepeated(_ hash: Int, at time: Int64, limit: Int) -> Bool {
      if let index = messages.firstIndex(where: { $0.hash == hash }) {
        let isRepeated = time - messages[index].time < Repetitions.memory
        if !isRepeated { messages[index].time = time }
        return isRepeated
      }
      if messages.count < limit {
        messages.append((hash, time))
      } else {
        messages[oldest] = (hash, time)
        oldest = (oldest + 1) % limit
      }
      return false
    }
  }

  private var accounts: RecentTable<JID, Seen>
  private let perAccount: Int

  init(accounts: Int = 1_000, perAccount: Int = 100) {
    self.accounts = RecentTable(capacity: accounts)
    self.perAccount = max(1, perAccount)
  }

  /// What came in an earlier process.
  mutating func remember(_ message: RecentMessage) {
    guard let bare = try? JID(message.peer), let body = message.body else { return }
    let sender = message.resource.flatMap { try? bare.with(receivedResource: $0) } ?? bare
    _ = isRepeated(message.messageID, body, from: sender, at: message.time)
  }

  /// True when `sender` has sent this text under this id not long before `time` (microseconds since 1970 UTC); remembers it.
  mutating func isRepeated(_ id: String, _ text: String, from sender: JID, at time: Int64) -> Bool {
    var hasher = Hasher()
    hasher.combine(sender.resource)
    hasher.combine(id)
    hasher.combine(text)
    let (hash, limit) = (hasher.finalize(), perAccount)
    return accounts.update(sender.bare, else: Seen()) { $0.isRepeated(hash, at: time, limit: limit) }
  }
}
