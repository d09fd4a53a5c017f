import Archive
import JID

/// Which messages came before: a client that was cut off sends again what it got no receipt for, under the same id. The
/// text counts, too, for there are clients whose ids begin anew with each start. Bounded for each account and in all: one
/// that sends without end makes us forget only what it sent itself.
struct Repetitions {
  /// An account's newest messages, each as a hash of resource, id and text.
  private struct Seen {
    var hashes: [Int] = []
    var oldest = 0

    mutating func isRepeated(_ hash: Int, limit: Int) -> Bool {
      if hashes.contains(hash) { return true }
      if hashes.count < limit {
        hashes.append(hash)
      } else {
        hashes[oldest] = hash
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
    _ = isRepeated(message.messageID, body, from: sender)
  }

  /// True when `sender` has sent this text under this id before; remembers it.
  mutating func isRepeated(_ id: String, _ text: String, from sender: JID) -> Bool {
    var hasher = Hasher()
    hasher.combine(sender.resource)
    hasher.combine(id)
    hasher.combine(text)
    let (hash, limit) = (hasher.finalize(), perAccount)
    return accounts.update(sender.bare, else: Seen()) { $0.isRepeated(hash, limit: limit) }
  }
}
