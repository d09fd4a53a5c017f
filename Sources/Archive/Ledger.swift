import SQLite

/// A message that had a program run and has no answer yet.
public struct OpenCommand: Sendable, Hashable {
  public var message: MessageRow
  public var name: String
  /// When it was accepted, microseconds since 1970, UTC.
  public var started: Int64

  public init(message: MessageRow, name: String, started: Int64) {
    self.message = message
    self.name = name
    self.started = started
  }
}

extension ArchiveQueries {
  /// Commands that are not finished, oldest first.
  public func openCommands() throws(DatabaseError) -> [OpenCommand] {
    var open: [(id: Int64, name: String, started: Int64)] = []
    let rows = try connection.statement(
      """
      SELECT message, name, started FROM command INDEXED BY command_open WHERE finished IS NULL ORDER BY message
      """)
    try rows.forEachRow { open.append(($0.integer(at: 0), $0.text(at: 1), $0.integer(at: 2))) }
    var commands: [OpenCommand] = []
    for command in open {
      guard let message = try message(id: command.id) else { continue }
      commands.append(OpenCommand(message: message, name: command.name, started: command.started))
    }
    return commands
  }
}

extension ArchiveTransaction {
  /// Message `id` has the program `name` run from now on. Once for each message; fails for one that is not there.
  public func openCommand(_ name: String, message id: Int64, at time: Int64) throws(DatabaseError) {
    let insert = try statement("INSERT INTO command (message, name, started) VALUES (?, ?, ?)")
    try insert.bind(id, at: 1)
    try insert.bind(name, at: 2)
    try insert.bind(time, at: 3)
    try insert.run()
  }

  /// The answer to message `id` is in this transaction. False: there was one already, or no command; then there must be none
  /// now, so that each has exactly one.
  public func finishCommand(message id: Int64, outcome: String, at time: Int64) throws(DatabaseError) -> Bool {
    let update = try statement("UPDATE command SET finished = ?, outcome = ? WHERE message = ? AND finished IS NULL")
    try update.bind(time, at: 1)
    try update.bind(outcome, at: 2)
    try update.bind(id, at: 3)
    try update.run()
    return connection.changes > 0
  }
}
