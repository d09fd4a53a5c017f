/// What is remembered about each of a bounded number of contacts: when full, the half that was written to longest ago is
/// forgotten at once, so that a crowd of strangers costs neither memory nor a search at each message.
struct RecentTable<Key: Hashable, Value> {
  private var entries: [Key: (value: Value, turn: UInt64)] = [:]
  private var turn: UInt64 = 0
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = max(2, capacity)
  }

  var count: Int { entries.count }

  subscript(key: Key) -> Value? { entries[key]?.value }

  /// Changes the value of `key`, which is `fresh` where there was none.
  mutating func update<Result>(_ key: Key, else fresh: @autoclosure () -> Value, _ change: (inout Value) -> Result)
    -> Result
  {
    turn += 1
    let turn = turn
    if entries.count >= capacity, entries[key] == nil { forgetHalf() }
    return Self.change(&entries[key, default: (fresh(), turn)], turn, change)
  }

  private static func change<Result>(
    _ entry: inout (value: Value, turn: UInt64), _ turn: UInt64, _ body: (inout Value) -> Result
  ) -> Result {
    entry.turn = turn
    return body(&entry.value)
  }

  private mutating func forgetHalf() {
    let turns = entries.values.map(\.turn).sorted()
    let median = turns[turns.count / 2]
    entries = entries.filter { $0.value.turn > median }
  }
}
