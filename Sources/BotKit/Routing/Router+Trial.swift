/// Trying a command out, as an operator does (`xmppbotctl run`).
extension Router {
  /// What `message`'s sender would get for the command `name` with these arguments: the same rights, place and arguments;
  /// limits and loop guards neither look at it nor remember it. `message`'s body is made here.
  public func trial(_ name: String, _ words: [String], as message: ChatMessage) -> Decision {
    var message = message
    message.isTrial = true
    let name = name.lowercased()
    let command = commands[name]
    let text = command?.takesText ?? true ? words.joined(separator: " ") : Arguments.text(words)
    let address = message.room.map { rooms[$0] ?? RoomAddress(nick: "") }
    message.body = (message.isPrivate ? "" : address?.mark ?? "") + name + (text.isEmpty ? "" : " " + text)
    guard let command else {
      let text = Answers.unknown(name, nearest: nearest(to: name, for: message), more: 1)
      return .answer(Answer(kind: .unknown, command: nil, text: text))
    }
    return judge(command, text[...], message)
  }
}

extension Command {
  /// It takes what was typed as it is, without quotes.
  var takesText: Bool {
    switch action {
    case .immediate: true
    case .waiting(let action): action.takesText
    }
  }
}

extension Arguments {
  /// What one types to have these arguments.
  static func text(_ words: [String]) -> String {
    words.map { word in
      let isPlain =
        !word.isEmpty && !word.unicodeScalars.contains { $0.isWhiteSpace || "'\"\\".unicodeScalars.contains($0) }
      return isPlain
        ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }.joined(separator: " ")
  }
}
