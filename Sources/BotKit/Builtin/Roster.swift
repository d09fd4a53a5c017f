/// `roster`: the bot's contacts, for administrators.
struct Roster: ImmediateHandler {
  let description = CommandDescription(name: "roster", description: "My contacts")

  func answer(_ request: CommandRequest, _ context: AnswerContext) -> String {
    let lines = context.roster.map { line in
      "\(line.jid)\(line.name.map { " (\($0))" } ?? "") — \(line.subscription)"
    }
    return lines.isEmpty ? "My roster is empty." : lines.sorted().joined(separator: "\n")
  }
}
