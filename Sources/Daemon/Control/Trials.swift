import BotKit
import EventLoop
import JSON

/// Commands that operators try out (`xmppbotctl run`): they run like all others, but what they say goes to the operator
/// alone, and nothing of them is archived.
@LoopActor
final class Trials {
  /// What an operator does not take is kept up to so many bytes; then the command is ended.
  private static let mostUnsent = 4_194_304

  private struct Trial {
    let client: ControlClient
    let stop: @LoopActor (CommandResult) -> Void
    /// It was told to end for what its operator did not take; nothing more is kept of what it says.
    var isDropped = false
  }

  private var trials: [Int64: Trial] = [:]
  private var last: Int64 = 0

  /// An id for a command that `client` tries out; no row of the archive has it. `stop` ends the command of an id; also when the
  /// client goes away.
  func begin(_ client: ControlClient, stop: @escaping @LoopActor (Int64, CommandResult) -> Void) -> Int64 {
    last -= 1
    let id = last
    trials[id] = Trial(client: client, stop: { stop(id, $0) })
    client.whenGone = { stop(id, .interrupted) }
    return id
  }

  /// Tells an operator what their command says, as far as they take it.
  private func tell(_ row: JSON, of id: Int64, _ trial: Trial) {
    if trial.isDropped { return }
    guard trial.client.unsent < Self.mostUnsent else {
      trials[id]?.isDropped = true
      // After the handlers of it that are still on the stack.
      return EventLoop.main.post { trial.stop(.failed("what it says is not read")) }
    }
    trial.client.send(rows: [row])
  }

  /// Tells operators about their commands, and `others` about the rest.
  func hooks(besides others: Dispatcher.Hooks) -> Dispatcher.Hooks {
    var hooks = Dispatcher.Hooks()
    hooks.onStarted = { [weak self] command in
      if self?.trials[command.id] == nil { others.onStarted(command) }
    }
    hooks.onAction = { [weak self] command, action in
      // Nobody is there to answer, as the command is told in a chat.
      if case .ask = action { return others.onAction(command, action) }
      guard let self, let trial = trials[command.id] else { return others.onAction(command, action) }
      // The next one has all of it.
      if case .progress = action, trial.client.isBehind { return }
      tell(action.json, of: command.id, trial)
    }
    hooks.onLog = { [weak self] command, line in
      guard let self, let trial = trials[command.id] else { return others.onLog(command, line) }
      tell(["log": .string(line)], of: command.id, trial)
    }
    hooks.onFinished = { [weak self] command, outcome in
      guard let client = self?.trials.removeValue(forKey: command.id)?.client else {
        return others.onFinished(command, outcome)
      }
      client.whenGone = nil
      if let text = outcome.text { client.send(rows: [["reply": .string(text)]]) }
      Self.finish(client, command.request.command, outcome.result)
    }
    return hooks
  }

  private static func finish(_ client: ControlClient, _ name: String, _ result: CommandResult) {
    let code: ExitCode =
      switch result {
      case .done: .done
      case .notAllowed: .notAllowed
      case .timedOut: .timedOut
      case .usage: .usage
      default: .failed
      }
    if code == .done { client.finish() } else { client.fail(code, "\(name): \(result)") }
  }
}

extension CommandUpload {
  /// As the contact would see it; nil: it is called after the command.
  fileprivate var shownName: String? {
    guard name == nil, case .file(let path) = content else { return name }
    return path.split(separator: "/").last.map(String.init)
  }

  /// Of what a command has given itself; a file of its own is not looked at.
  fileprivate var size: Int? { if case .bytes(let bytes) = content { bytes.count } else { nil } }
}

extension CommandAction {
  /// What the contact would see, for an operator.
  fileprivate var json: JSON {
    switch self {
    case .reply(let text): ["reply": .string(text)]
    case .edit(let text): ["edit": .string(text)]
    case .progress(let text): ["progress": .string(text)]
    case .ask(let question): ["ask": .string(question.title)]
    case .react(let emoji): ["react": .array(emoji.map(JSON.string))]
    case .offer(let options, _): ["choices": .array(options.map(JSON.string))]
    case .upload(let file):
      [
        "upload": file.shownName.map(JSON.string) ?? .null, "caption": file.caption.map(JSON.string) ?? .null,
        "bytes": file.size.map(JSON.int) ?? .null,
      ]
    }
  }
}
