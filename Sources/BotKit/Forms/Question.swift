/// What a running command asks its contact: a form, shown where the contact uses a menu.
public struct Question: Sendable, Hashable {
  public var title: String
  /// What is to be done, in a sentence or two.
  public var instructions: String?
  public var fields: [CommandField]
  /// The contact may ask for the question before this one.
  public var mayGoBack: Bool
  /// Nothing is asked after it.
  public var isLast: Bool

  public init(
    _ title: String, instructions: String? = nil, fields: [CommandField], mayGoBack: Bool = false, isLast: Bool = false
  ) {
    self.title = title
    self.instructions = instructions
    self.fields = fields
    self.mayGoBack = mayGoBack
    self.isLast = isLast
  }
}

/// What came of a question. When the contact cancels, or says nothing for long, the command is stopped instead.
public enum QuestionAnswer: Sendable, Hashable {
  /// The value of each field, by its name, checked; optional ones that were left out are missing.
  case values([String: String])
  /// Ask the question before this one again.
  case back
  /// Nothing can be asked where the command was given: it came as a message.
  case unavailable
}
