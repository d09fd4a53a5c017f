/// What is remembered about each speaker, for a bounded number of them: when full, the half whose entries matter least
/// is forgotten at once, so that a crowd of strangers costs neither memory nor a search at each message.
struct SpeakerTable<Value> {
  private var entries: [Speaker: Value] = [:]
  private let capacity: Int
  /// The entries with the earliest of these are forgotten first.
  private let importance: (Value) -> ContinuousClock.Instant

  init(capacity: Int, importance: @escaping (Value) -> ContinuousClock.Instant) {
    self.capacity = max(2, capacity)
    self.importance = importance
  }

  var count: Int { entries.count }

  subscript(speaker: Speaker) -> Value? {
    get { entries[speaker] }
    set {
      if newValue != nil, entries.count >= capacity, entries[speaker] == nil { forgetHalf() }
      entries[speaker] = newValue
    }
  }

  private mutating func forgetHalf() {
    let sorted = entries.values.map(importance).sorted()
    let median = sorted[sorted.count / 2]
    entries = entries.filter { importance($0.value) > median }
  }
}
