import JID

/// What contacts were asked to choose from, one question for each: a later one takes the place of an earlier.
struct OpenChoices {
  /// So long a question is open.
  static let patience = Duration.seconds(600)

  private struct Question {
    let command: String
    let options: [String]
    let asked: String
    let room: JID?
    let end: ContinuousClock.Instant
  }

  private var questions = SpeakerTable<Question>(capacity: 1024) { $0.end }

  mutating func offer(
    _ options: [String], asked: String, by command: String, to speaker: Speaker, in room: JID?,
    now: ContinuousClock.Instant
  ) {
    guard !options.isEmpty else { return questions[speaker] = nil }
    questions[speaker] = Question(
      command: command, options: options, asked: asked, room: room, end: now + Self.patience)
  }

  /// Whether the speaker was asked something, here.
  func isOpen(for speaker: Speaker, in room: JID?, now: ContinuousClock.Instant) -> Bool {
    questions[speaker].map { $0.room == room && now < $0.end } ?? false
  }

  /// What `said` chooses, by number or text, in any case; the question is settled with that. Anything else leaves it open.
  mutating func take(
    _ said: Substring, from speaker: Speaker, in room: JID?, now: ContinuousClock.Instant
  ) -> (command: String, chosen: CommandRequest.Choice)? {
    guard let question = questions[speaker], question.room == room, now < question.end else { return nil }
    let words = Arguments.words(said)
    let number = words.count == 1 ? Int(words[0]) : nil
    let text = words.joined(separator: " ").lowercased()
    let index = question.options.firstIndex { Arguments.words($0[...]).joined(separator: " ").lowercased() == text }
    guard let index = index ?? number.map({ $0 - 1 }), question.options.indices.contains(index) else { return nil }
    questions[speaker] = nil
    let chosen = CommandRequest.Choice(number: index + 1, text: question.options[index], asked: question.asked)
    return (question.command, chosen)
  }

  /// A contact has chosen this in a menu, which shows one question of one command. False when that is not the open one.
  mutating func settle(
    _ choice: CommandRequest.Choice, of command: String, from speaker: Speaker, now: ContinuousClock.Instant
  ) -> Bool {
    guard let question = questions[speaker], question.room == nil, now < question.end, question.command == command,
      question.asked == choice.asked, question.options.indices.contains(choice.number - 1),
      question.options[choice.number - 1].utf8.elementsEqual(choice.text.utf8)
    else { return false }
    questions[speaker] = nil
    return true
  }
}
