/// `help`: what this contact may use here. `help NAME`: one command's usage.
struct Help: ImmediateHandler {
  let description = CommandDescription(
    name: "help", description: "What I can do; help NAME says more", usage: "help [NAME]", allow: [.everyone],
    places: [.chat, .room])

  func answer(_ request: CommandRequest, _ context: AnswerContext) -> String {
    let usable = context.usableCommands
    guard let wanted = request.arguments.first?.lowercased() else {
      return usable.map(Self.line).joined(separator: "\n")
    }
    if let command = usable.first(where: { $0.name == wanted }) {
      return Self.line(command) + "\nUsage: \(command.usage ?? command.name)"
    }
    let hint = Suggestion.nearest(to: wanted, among: usable.map(\.name)).map { "Did you mean \($0)?" }
    return "I don't know \(Answers.quoted(wanted)). \(hint ?? "Send help for what I can do.")"
  }

  private static func line(_ command: CommandDescription) -> String {
    command.description.isEmpty ? command.name : "\(command.name) — \(command.description)"
  }
}
