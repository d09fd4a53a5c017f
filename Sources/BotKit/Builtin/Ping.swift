/// `ping`: `pong`, and whatever follows it.
struct Ping: ImmediateHandler {
  let description = CommandDescription(
    name: "ping", description: "Answers pong", usage: "ping [TEXT]", allow: [.everyone], places: [.chat, .room])

  func answer(_ request: CommandRequest, _ context: AnswerContext) -> String {
    request.text.isEmpty ? "pong" : "pong \(request.text)"
  }
}
