/// The commands of a bot, by name.
public struct CommandTable: Sendable {
  private var commands: [String: Command] = [:]

  public init() {}

  /// All commands, sorted by name.
  public var all: [Command] { commands.values.sorted { $0.description.name < $1.description.name } }

  public subscript(name: String) -> Command? { commands[name] }

  /// Adds `command` unless its name is taken or cannot be one; what is added first wins, so the built-ins come first.
  /// Returns what the operator must be told.
  public mutating func add(_ command: Command) -> CommandDiagnostic? {
    let name = command.description.name
    if let fault = CommandDescription.fault(inName: name) {
      return CommandDiagnostic(source: command.origin, problem: fault, remedy: "rename it")
    }
    if let present = commands[name] {
      return CommandDiagnostic(
        source: command.origin, problem: "the command \(name) exists already (\(present.origin))",
        remedy: "rename or remove one of them")
    }
    commands[name] = command
    return nil
  }

  /// Adds `command`, or puts it in the place of the one that the same origin has added.
  public mutating func update(_ command: Command) -> CommandDiagnostic? {
    let name = command.description.name
    if commands[name]?.origin == command.origin { commands[name] = nil }
    return add(command)
  }
}

/// A command that is not offered, why, and what the operator does about it.
public struct CommandDiagnostic: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file or section.
  public let source: String
  public let problem: String
  public let remedy: String

  public init(source: String, problem: String, remedy: String) {
    self.source = source
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(source): \(problem): \(remedy)" }
}
