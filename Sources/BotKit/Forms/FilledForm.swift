/// What a contact said by filling in a form.
public struct FilledForm: Sendable, Hashable {
  /// The command that it is for, whatever the text looks like.
  public let command: String
  /// The message that says the same in a chat.
  public let text: String
  /// Of what this command had offered, the contact chose this.
  public let choice: CommandRequest.Choice?

  public init(_ command: String, _ text: String, choice: CommandRequest.Choice? = nil) {
    self.command = command
    self.text = text
    self.choice = choice
  }
}
