import EventLoop
import JID
import JSON

@testable import BotKit

/// The talk with a handler, as lines of text.
struct HandlerScript {
  var dialogue: HandlerDialogue
  var now = ContinuousClock.now
  private(set) var lastNumber = 0

  init(events: Set<HandlerDescription.Event> = [.command], limits: HandlerLimits = HandlerLimits()) {
    dialogue = HandlerDialogue(
      HandlerDescription(name: "bridge", words: ["/bin/true"], events: events), limits: limits)
  }

  /// A contact uses a command; what follows from it.
  mutating func use(_ command: String, _ text: String = "", from: String = "alice@example.org") throws -> [String] {
    lastNumber += 1
    let message = ChatMessage(
      sender: try JID(from), body: command + (text.isEmpty ? "" : " " + text), resource: "phone", messageID: "m1",
      lang: "en", time: 1_000_000_000_000_001)
    let request = CommandRequest(
      message: message, command: command, arguments: Arguments.words(text[...]), text: text)
    return dialogue.command(lastNumber, request).map(Self.text)
  }

  mutating func write(_ text: String, from: String = "alice@example.org") throws -> [String] {
    lastNumber += 1
    return dialogue.message(lastNumber, ChatMessage(sender: try JID(from), body: text, messageID: "m2")).map(Self.text)
  }

  /// The handler says a line.
  mutating func says(_ line: String) -> [String] { says(Array(line.utf8)) }

  mutating func says(_ line: [UInt8]) -> [String] { dialogue.line(line, now: now).map(Self.text) }

  mutating func cancel(_ number: Int, _ reason: CommandResult) -> [String] {
    dialogue.cancel(number, reason, now: now).map(Self.text)
  }

  static func text(_ action: HandlerDialogue.Action) -> String {
    switch action {
    case .write(let bytes): "< " + String(decoding: bytes.dropLast(), as: UTF8.self)
    case .perform(let number, let action): "\(number) \(text(action))"
    case .finish(let number, let result, let text): "\(number) ends (\(result))" + (text.map { ": \($0)" } ?? "")
    case .answer(let message, let action): "to \(message.sender) \(text(action))"
    case .send(let recipient, let text): "sends to \(recipient): \(text)"
    case .register(let command, let description, let usage):
      "registers \(command): \(description ?? "-"), \(usage ?? "-")"
    case .log(let severity, let text): "\(severity): \(text)"
    }
  }

  private static func text(_ action: CommandAction) -> String {
    switch action {
    case .reply(let text): "replies: \(text)"
    case .edit(let text): "edits: \(text)"
    case .react(let emoji): "reacts: \(emoji.joined(separator: " "))"
    case .offer(let options, let asked): "offers for \(asked): \(options.joined(separator: "|"))"
    case .upload(let file):
      "uploads \(file.content) of \(file.folder ?? "-") as \(file.name ?? "-"): \(file.caption ?? "-")"
    default: "\(action)"
    }
  }
}
