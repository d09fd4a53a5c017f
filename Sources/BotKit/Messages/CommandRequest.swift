/// One use of a command: what was typed, taken apart.
public struct CommandRequest: Sendable, Hashable {
  public let message: ChatMessage
  /// The command's name, in lower case.
  public let command: String
  /// What follows the name, split at white space, quotes and backslashes resolved as in a shell; nothing is expanded.
  public let arguments: [String]
  /// What follows the name, as typed.
  public let text: String
  /// The contact chose this, asked by the same command; it is the text and the one argument then, too.
  public var choice: Choice?

  /// One of the options that a command offered.
  public struct Choice: Sendable, Hashable {
    /// Counted from 1.
    public let number: Int
    public let text: String
    /// What the command called its question.
    public let asked: String

    public init(number: Int, text: String, asked: String) {
      self.number = number
      self.text = text
      self.asked = asked
    }
  }

  public init(message: ChatMessage, command: String, arguments: [String], text: String) {
    self.message = message
    self.command = command
    self.arguments = arguments
    self.text = text
  }
}
