/// What contacts choose in menus (XEP-0050). A form knows its command, so what it says is never looked up in what else may be
/// open for the contact, and never repeats what the bot said.
extension Router {
  /// Decides what a form gets that was filled in; `message` says the same.
  public mutating func decide(
    _ form: FilledForm, as message: ChatMessage, now: ContinuousClock.Instant
  ) -> Decision {
    if let decision = limited(form.text[...], message, now) { return decision }
    guard let command = commands[form.command] else {
      return answer(.unknown, nil, Answers.unknown(form.command, nearest: nil, more: 1), message, now)
    }
    guard let choice = form.choice else {
      return use(command, Self.firstWord(form.text[...])?.rest ?? "", message, now)
    }
    guard choices.settle(choice, of: form.command, from: message.speaker, now: now) else {
      return answer(.closed, form.command, Answers.closed(form.command), message, now)
    }
    return use(command, choice.text[...], message, chosen: choice, now)
  }

  /// Counts a page that a contact wants to see, as a message is counted; false: it is one too many.
  public mutating func admitsPage(for message: ChatMessage, now: ContinuousClock.Instant) -> Bool {
    limiter.admit(message.speaker, now: now) == .admitted
  }
}
