import JID

/// Who may be answered while too much waits for the server already: whoever asks without end is heard no more, and others get
/// their few answers out of a reserve. Pure.
struct AnswerReserve {
  /// Answers to one address while it is crowded.
  static let share = 8

  private var answers: [JID: Int] = [:]

  /// Whether a request of `asker`'s gets an answer, which then counts.
  /// - Parameters:
  ///   - isCrowded: enough is on its way.
  ///   - isExhausted: so much is on its way that nothing else may be.
  mutating func admits(_ asker: JID, isCrowded: Bool, isExhausted: Bool) -> Bool {
    guard isCrowded else {
      if !answers.isEmpty { answers = [:] }
      return true
    }
    guard !isExhausted, answers[asker.bare, default: 0] < Self.share else { return false }
    answers[asker.bare, default: 0] += 1
    return true
  }
}
