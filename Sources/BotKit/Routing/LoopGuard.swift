/// Keeps a bot that answers this one from doing so for ever.
///
/// - A message that repeats the last answer its sender got is an echo, and not answered. The answer is forgotten with
///   that, so that a person who meant it types it again.
/// - After `patience` answers in a row of "I don't know that command" the sender gets none until they send a command
///   that is known, or have been quiet for `pause`.
struct LoopGuard {
  static let patience = 5
  static let pause: Duration = .seconds(600)

  private struct Memory {
    var last: ContinuousClock.Instant
    var unknown = 0
    /// The hash of the last answer: enough to know it again.
    var answer: Int?
  }

  private var memories: SpeakerTable<Memory>

  init(speakers: Int = 4096) {
    memories = SpeakerTable(capacity: speakers) { $0.last }
  }

  /// Whether `body` is what the speaker was told last.
  mutating func isEcho(_ body: Substring, from speaker: Speaker) -> Bool {
    guard let answer = memories[speaker]?.answer, answer == Self.fingerprint(body) else { return false }
    memories[speaker]?.answer = nil
    return true
  }

  mutating func answered(_ text: String, to speaker: Speaker, now: ContinuousClock.Instant) {
    var memory = memories[speaker] ?? Memory(last: now)
    memory.answer = Self.fingerprint(text[...])
    memory.last = now
    memories[speaker] = memory
  }

  mutating func known(from speaker: Speaker) {
    if let memory = memories[speaker], memory.unknown > 0 { memories[speaker]?.unknown = 0 }
  }

  /// Counts an unknown command; how many more will be answered after it, nil when this one is not.
  mutating func unknown(from speaker: Speaker, now: ContinuousClock.Instant) -> Int? {
    var memory = memories[speaker] ?? Memory(last: now)
    if now - memory.last > Self.pause { memory.unknown = 0 }
    memory.unknown = min(memory.unknown + 1, Self.patience + 1)
    memory.last = now
    memories[speaker] = memory
    return memory.unknown > Self.patience ? nil : Self.patience - memory.unknown
  }

  /// The hash of `text` without the white space around it.
  private static func fingerprint(_ text: Substring) -> Int {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.isWhiteSpace }),
      let last = scalars.lastIndex(where: { !$0.isWhiteSpace })
    else { return 0 }
    var trimmed = Substring(scalars[first...last])
    var hasher = Hasher()
    trimmed.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
