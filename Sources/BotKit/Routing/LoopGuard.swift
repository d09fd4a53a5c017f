/// Keeps a bot that answers this one from doing so for ever.
///
/// - A message that repeats the last answer its sender got is an echo, and not answered. The answer is forgotten with
///   that, so that a person who meant it types it again.
/// - After `patience` answers in a row of "I don't know that command" the sender gets none until they send a command
///   that is known, or have been quiet for `pause`. One who says of itself that it is a bot gets none at all.
/// - Who sends `reflexes` messages in a row, each right after our answer, is told so once, and gets no answer until they
///   have been quiet for `rest`. People are not that quick, nor that patient; a bot stops when it gets no answer.
struct LoopGuard {
  static let patience = 5
  static let pause: Duration = .seconds(600)
  /// From so many unknown commands in a row on it is worth asking what the sender is.
  static let doubt = 2
  static let reflexes = 100
  static let rest: Duration = .seconds(60)
  /// What comes so soon after our answer is a reflex; the same text once more is one in the longer time.
  static let reflexTime: (any: Duration, same: Duration) = (.seconds(2), .seconds(10))

  /// A text as it is remembered: enough to know it again.
  struct Fingerprint: Equatable {
    fileprivate let hash: Int

    /// Of `text` without the white space around it.
    init(_ text: Substring) {
      let scalars = text.unicodeScalars
      guard let first = scalars.firstIndex(where: { !$0.isWhiteSpace }),
        let last = scalars.lastIndex(where: { !$0.isWhiteSpace })
      else {
        hash = 0
        return
      }
      var trimmed = Substring(scalars[first...last])
      var hasher = Hasher()
      trimmed.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hash = hasher.finalize()
    }
  }

  enum Reflex: Hashable {
    case no
    /// One too many, and the first: say so.
    case tell
    /// The sender was told.
    case again
  }

  private struct Memory {
    var last: ContinuousClock.Instant
    var unknown = 0
    var answer: Fingerprint?
    var answered: ContinuousClock.Instant?
    var heard: Fingerprint?
    var reflexes = 0
    var isAutomaton = false
    /// The hash of the id of a message that was no command as it stood.
    var mistake: Int?
  }

  private var memories: SpeakerTable<Memory>

  init(speakers: Int = 4096) {
    memories = SpeakerTable(capacity: speakers) { $0.last }
  }

  /// Whether `text` is what the speaker was told last.
  mutating func isEcho(_ text: Fingerprint, from speaker: Speaker) -> Bool {
    guard let answer = memories[speaker]?.answer, answer == text else { return false }
    memories[speaker]?.answer = nil
    return true
  }

  mutating func answered(_ text: String, to speaker: Speaker, now: ContinuousClock.Instant) {
    var memory = memories[speaker] ?? Memory(last: now)
    memory.answer = Fingerprint(text[...])
    memory.answered = now
    memory.last = now
    memories[speaker] = memory
  }

  /// Whether this is one more of too many messages that follow at once upon our answers.
  mutating func reflex(_ text: Fingerprint, from speaker: Speaker, now: ContinuousClock.Instant) -> Reflex {
    guard var memory = memories[speaker], let answered = memory.answered else { return .no }
    defer { memories[speaker] = memory }
    if memory.reflexes > Self.reflexes {
      if now - memory.last < Self.rest {
        memory.last = now
        return .again
      }
      memory.reflexes = 0
    }
    let time = memory.heard == text ? Self.reflexTime.same : Self.reflexTime.any
    memory.reflexes = now - answered <= time ? memory.reflexes + 1 : 0
    memory.heard = text
    return memory.reflexes > Self.reflexes ? .tell : .no
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

  /// The speaker has just sent so many unknown commands that it may be a bot.
  func isDoubtful(_ speaker: Speaker) -> Bool { memories[speaker]?.unknown == Self.doubt }

  /// The speaker says of itself that it is a bot.
  mutating func isAutomaton(_ speaker: Speaker, now: ContinuousClock.Instant) {
    var memory = memories[speaker] ?? Memory(last: now)
    memory.isAutomaton = true
    memories[speaker] = memory
  }

  func isAutomaton(_ speaker: Speaker) -> Bool { memories[speaker]?.isAutomaton ?? false }

  /// Remembers that the message `id` was no command as it stood.
  mutating func mistaken(_ id: String?, by speaker: Speaker) { memories[speaker]?.mistake = id?.hashValue }

  /// Whether the speaker's message `id` was no command as it stood; true once.
  mutating func takeMistake(_ id: String, of speaker: Speaker) -> Bool {
    guard memories[speaker]?.mistake == id.hashValue else { return false }
    memories[speaker]?.mistake = nil
    return true
  }
}
