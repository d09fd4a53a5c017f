/// `whoami`: how the bot sees the sender, which is what access rules go by.
struct Whoami: ImmediateHandler {
  let description = CommandDescription(
    name: "whoami", description: "How I see you", allow: [.everyone], places: [.chat, .room])

  func answer(_ request: CommandRequest, _ context: AnswerContext) -> String {
    let message = request.message
    if message.isPrivate {
      return
        "Through a room you are nobody but \(message.nick ?? "somebody")\(Self.standing(message)). Write to me directly, and I know you."
    }
    guard message.address != nil else {
      return
        "This room hides your address from me: I see only the nickname \(message.nick ?? "")\(Self.standing(message))."
    }
    let groups = context.groups
    return [
      "You are \(message.sender)",
      message.resource.map { "using \($0)" },
      groups.isEmpty ? nil : "in the group\(groups.count == 1 ? "" : "s") \(groups.joined(separator: ", "))",
      context.isAdmin ? "an administrator of this bot" : nil,
    ].compactMap { $0 }.joined(separator: ", ") + Self.standing(message) + "."
  }

  private static func standing(_ message: ChatMessage) -> String {
    (message.affiliation.map { ", affiliation \($0.rawValue)" } ?? "")
      + (message.role.map { ", role \($0.rawValue)" } ?? "")
  }
}
