import EventLoop
import JID
import XMPPTesting

@testable import BotKit

/// What a dispatcher told about one command.
struct Told: Sendable {
  var started = 0
  var actions: [CommandAction] = []
  var log: [String] = []
  var result: CommandResult?
  var text: String?
}

/// Runs `command` to its end on the loop.
func run(
  _ command: Command, text: String = "", arguments: [String]? = nil, from message: ChatMessage? = nil
) async throws -> Told {
  LoopThread.start()
  let pending = try pending(command, text: text, arguments: arguments, from: message)
  return await withCheckedContinuation { continuation in
    EventLoop.main.post {
      let told = Box(Told())
      let keep = Box<Dispatcher?>(nil)
      var hooks = Dispatcher.Hooks()
      hooks.onStarted = { _ in told.value.started += 1 }
      hooks.onAction = { told.value.actions.append($1) }
      hooks.onLog = { told.value.log.append($1) }
      hooks.onFinished = { _, outcome in
        told.value.result = outcome.result
        told.value.text = outcome.text
        // After the handlers that are still on the stack.
        EventLoop.main.post {
          keep.value = nil
          continuation.resume(returning: told.value)
        }
      }
      let dispatcher = Dispatcher(hooks: hooks)
      keep.value = dispatcher
      dispatcher.start(pending)
    }
  }
}

func pending(
  _ command: Command, text: String = "", arguments: [String]? = nil, from message: ChatMessage? = nil
) throws -> PendingCommand {
  let name = command.description.name
  let message = try message ?? ChatMessage(sender: JID("alice@example.org"), body: name + " " + text)
  guard case .waiting(let action) = command.action else { throw NotWaiting() }
  let arguments = try arguments ?? Arguments.split(text[...])
  return PendingCommand(
    request: CommandRequest(message: message, command: name, arguments: arguments, text: text),
    description: command.description, timeout: command.timeout, action: action)
}

struct NotWaiting: Error {}

/// A command that is a shell script in `folder`.
func script(
  _ body: String, in folder: Folder, launcher: (any ProgramLauncher)? = nil, limits: ProgramCommand.Limits = .init(),
  timeout: Duration? = nil, style: ProgramCommand.Style = .text, isLive: Bool = false, words: [String] = []
) -> Command {
  let path = folder.write("script", "#!/bin/sh\n" + body + "\n")
  return Command(
    CommandDescription(name: "test", usage: "test THING"),
    ProgramCommand(
      words: [path] + words, launcher: launcher ?? DirectLauncher(stateBase: folder.path + "/state"), style: style,
      isLive: isLive,
      limits: limits),
    origin: path, timeout: timeout)
}
