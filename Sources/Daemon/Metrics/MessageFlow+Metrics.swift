import BotKit

/// Where messages are counted.
extension MessageFlow {
  /// It is in the archive, with its answer if that was known at once. `came`: when it arrived.
  func measure(_ decision: Decision, _ came: ContinuousClock.Instant) {
    switch decision {
    case .answer(let answer):
      metrics.count(answer)
      metrics.answered(after: came.duration(to: .now))
    case .ignore(let reason): metrics.count(reason)
    case .run, .heard: break
    }
  }

  /// Starts a command whose message came then.
  func start(_ command: PendingCommand, _ came: ContinuousClock.Instant) {
    metrics.began(command.id, at: came)
    dispatcher?.start(command)
  }
}
