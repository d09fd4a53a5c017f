/// For whom private words through a room are, each message by its id: a nickname may change hands before they go, above all while the
/// bot is away. Pure, and in memory only: for whom the words of an earlier process were, nobody knows any more.
struct Confidants {
  /// The stay in the room of whoever had the nickname; nil: nobody did, and it is for whoever has it.
  private var stays: [String: Int?] = [:]

  /// The message is written, while this stay has the nickname.
  mutating func note(_ id: String, _ stay: Int?) { stays[id] = .some(stay) }

  /// Whether the message is for the one who has the nickname now.
  func admits(_ id: String, _ stay: Int?) -> Bool {
    guard let meant = stays[id] else { return false }
    return meant == nil || meant == stay
  }

  /// The message has arrived, or never will.
  mutating func forget(_ id: String) { stays[id] = nil }
}
