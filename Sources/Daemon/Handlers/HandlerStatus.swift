import BotKit
import JSON

extension Handlers {
  /// For `xmppbotctl status`.
  var json: JSON {
    .array(
      status.map { handler in
        [
          "name": .string(handler.name), "running": .bool(handler.isRunning), "restarts": .int(handler.restarts),
          "last_end": handler.lastEnd.map(JSON.string) ?? .null,
          "next_start": handler.nextStart.map { .string("in \($0.inWords)") } ?? .null,
          "in_flight": .int(handler.inFlight), "commands": .array(handler.commands.map(JSON.string)),
        ]
      })
  }
}
