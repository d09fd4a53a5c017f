import EventLoop
import JID
import XMPPTesting

@testable import BotKit

/// Handlers that are shell scripts, a dispatcher, and what came of it.
@LoopActor
final class HandlerBench {
  let folder = Folder()
  let handlers: Handlers
  let dispatcher: Dispatcher
  private let told = Box(Log())

  struct Log {
    var notices: [HandlerNotice] = []
    var sent: [String] = []
    var answers: [CommandAction] = []
    var finished: [Int64: CommandOutcome] = [:]
    var actions: [CommandAction] = []
    var registered: [Command] = []
  }

  var log: Log { told.value }

  /// What each script begins with: `reply ID TEXT`, and `field NAME` of the line that was read last.
  static let prelude = """
    #!/bin/sh
    field() { rest=${line#*"\\"$1\\":\\""}; printf %s "${rest%%'"'*}"; }
    reply() { printf '{"type":"reply","id":"%s","text":"%s"}\\n' "$1" "$2"; }
    say() { printf '%s\\n' "$1"; }

    """

  init(limits: HandlerLimits = HandlerLimits(), timeout: Duration = .seconds(30)) {
    var hooks = Handlers.Hooks()
    hooks.notice = { [told] in told.value.notices.append($0) }
    hooks.send = { [told] in told.value.sent.append("\($0): \($1)") }
    hooks.answer = { [told] in told.value.answers.append($1) }
    hooks.maySend = { jid, rules in AccessPolicy().allows(jid, rules, inRoster: { _ in false }) }
    hooks.register = { [told] command in
      told.value.registered.append(command)
      return command.description.name == "ping"
        ? CommandDiagnostic(source: "x", problem: "the command ping exists already", remedy: "rename it") : nil
    }
    handlers = Handlers(
      jid: "bot@example.org", launcher: DirectLauncher(stateBase: folder.path + "/state"), limits: limits, hooks: hooks)
    var dispatch = Dispatcher.Hooks()
    dispatch.onAction = { [told] in told.value.actions.append($1) }
    dispatch.onFinished = { [told] in told.value.finished[$0.id] = $1 }
    dispatcher = Dispatcher(limits: .init(concurrent: 100, timeout: timeout), hooks: dispatch)
  }

  func description(_ script: String, name: String = "bridge", file: String = "script") -> HandlerDescription {
    let path = folder.write(file, Self.prelude + script + "\n")
    return HandlerDescription(
      name: name, words: [path], events: [.command, .message], commands: ["weather"], allow: [.everyone],
      send: [.domain("example.org")])
  }

  /// Runs `script` as the one handler.
  @discardableResult
  func start(_ script: String) -> HandlerDescription {
    let description = description(script)
    handlers.update([description])
    handlers.start()
    return description
  }

  /// Uses `weather`; its end is under this number.
  @discardableResult
  func use(_ text: String = "", timeout: Duration? = nil) throws -> Int64 {
    number += 1
    var section = HandlerDescription(name: "bridge", words: [])
    section.timeout = timeout
    var pending = try pending(handlers.command(CommandDescription(name: "weather"), of: section), text: text)
    pending.id = number
    dispatcher.start(pending)
    return number
  }
  private var number: Int64 = 0

  /// Waits for the end of a command: its text.
  func end(_ number: Int64) async -> String? {
    _ = await turn { log.finished[number] != nil }
    return log.finished[number]?.text
  }

  func ask(_ text: String = "") async throws -> String? { await end(try use(text)) }

  /// Lets the loop turn until `condition` holds; false when it does not come to that.
  func turn(until condition: @LoopActor () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(20))
    while !condition(), .now < deadline { await turnOnce() }
    return condition()
  }

  func turnOnce() async {
    await withCheckedContinuation { next in
      // By a timer: what turns without a pause keeps a processor from the programs.
      wakeup = TimerSource(after: .milliseconds(1)) { next.resume() }
    }
  }
  private var wakeup: TimerSource?

  func said(_ text: String) -> Bool {
    log.notices.contains { if case .said(_, _, let line) = $0 { line.contains(text) } else { false } }
  }

  var starts: Int { log.notices.count { if case .started = $0 { true } else { false } } }

  /// Ends all of it.
  func stop() async {
    var isDone = false
    handlers.stop(within: .seconds(2)) { isDone = true }
    _ = await turn { isDone }
  }
}
