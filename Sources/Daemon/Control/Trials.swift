import BotKit
import EventLoop
import JSON

/// Commands that operators try out (`xmppbotctl run`): they run like all others, but what they say goes to the operator
/// alone, and nothing of them is archived.
@LoopActor
final class Trials {
  private var clients: [Int64: ControlClient] = [:]
  private var last: Int64 = 0

  /// An id for a command that `client` tries out; no row of the archive has it.
  func begin(_ client: ControlClient) -> Int64 {
    last -= 1
    clients[last] = client
    return last
  }

  /// Tells operators about their commands, and `others` about the rest.
  func hooks(besides others: Dispatcher.Hooks) -> Dispatcher.Hooks {
    var hooks = Dispatcher.Hooks()
    hooks.onStarted = { [weak self] command in
      if self?.clients[command.id] == nil { others.onStarted(command) }
    }
    hooks.onAction = { [weak self] command, action in
      // Nobody is there to answer, as the command is told in a chat.
      if case .ask = action { return others.onAction(command, action) }
      guard let client = self?.clients[command.id] else { return others.onAction(command, action) }
      client.send(rows: [action.json])
    }
    hooks.onLog = { [weak self] command, line in
      guard let client = self?.clients[command.id] else { return others.onLog(command, line) }
      client.send(rows: [["log": .string(line)]])
    }
    hooks.onFinished = { [weak self] command, outcome in
      guard let client = self?.clients.removeValue(forKey: command.id) else {
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
