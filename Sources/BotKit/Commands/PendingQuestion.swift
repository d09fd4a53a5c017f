import EventLoop

/// Where a Swift handler waits for the answer to its question.
@LoopActor
final class PendingQuestion {
  private let events: CommandEvents
  private var waiting: CheckedContinuation<QuestionAnswer, Never>?
  private var isClosed = false

  init(_ events: CommandEvents) { self.events = events }

  nonisolated func ask(_ question: Question) async -> QuestionAnswer {
    await withCheckedContinuation { continuation in
      EventLoop.main.post { self.put(question, continuation) }
    }
  }

  private func put(_ question: Question, _ continuation: CheckedContinuation<QuestionAnswer, Never>) {
    guard !isClosed, waiting == nil else { return continuation.resume(returning: .unavailable) }
    waiting = continuation
    events.perform(.ask(question))
  }

  func answered(_ answer: QuestionAnswer) {
    let waiting = waiting
    self.waiting = nil
    waiting?.resume(returning: answer)
  }

  /// No more is asked, nor waited for.
  func close() {
    isClosed = true
    answered(.unavailable)
  }
}
