/// `status`: how the bot is doing; in more detail for administrators.
struct Status: ImmediateHandler {
  let description = CommandDescription(
    name: "status", description: "How I am doing", allow: [.everyone], places: [.chat, .room])

  func answer(_ request: CommandRequest, _ context: AnswerContext) -> String {
    let report = context.status
    let online = report.online.map { "Online for \(Units.approximate($0))" } ?? "Offline"
    guard context.isAdmin, request.message.place == .chat else { return online + "." }
    return [
      online + (report.server.isEmpty ? "" : " (\(report.server))"),
      "Resumed \(report.resumed) times, reconnected \(report.reconnected) times",
      "Commands running: \(report.running)",
      "Messages waiting for the server: \(report.outbox)",
      report.archived.map { "Messages archived: \($0)" },
      report.version.isEmpty ? nil : "Version: \(report.version)",
    ].compactMap { $0 }.joined(separator: "\n")
  }
}
