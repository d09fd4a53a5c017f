import SQLite

/// Takes over from a damaged archive what the daemon goes on with: where it stands with its server, whom it knows, and
/// what it has not yet said. Each part by itself, for a page that can't be read costs only what is on it.
struct Salvage {
  private let connection: Connection

  private init(_ connection: Connection) { self.connection = connection }

  /// Fills what is new in `setAside`. Errors are no errors here: what can't be read is lost, and is said to be.
  /// `further` may read more of it, as the schema `damaged`.
  static func run(
    _ setAside: inout SetAside, into connection: Connection, further: (Connection) -> Void = { _ in }
  ) {
    // Of an empty database SQLite would remove the log, which may be all that is left.
    guard let old = setAside.files.first, !old.hasSuffix("-wal"), sizeOfFile(old) > 0 else {
      setAside.lost = parts.map(\.name)
      return
    }
    do throws(DatabaseError) {
      try connection.tolerateDamage(true)
      try connection.attach(readOnly: old, isImmutable: sizeOfFile(old + "-wal") == 0, as: "damaged")
      // Asked first: it is the beginning of the schema that is read.
      _ = try connection.integer("SELECT count(*) FROM damaged.sqlite_schema")
    } catch {
      setAside.lost = parts.map(\.name)
      return detach(connection)
    }
    showMessages(connection)
    let salvage = Salvage(connection)
    for part in parts {
      switch salvage.copy(part) {
      case .kept: setAside.kept.append(part.name)
      case .lost: setAside.lost.append(part.name)
      case .none: break
      }
    }
    further(connection)
    detach(connection)
  }

  /// The messages of the damaged file as this version has them, whichever version wrote them: `temp.old_message`.
  private static func showMessages(_ connection: Connection) {
    let known = "SELECT count(*) FROM pragma_table_info('message', 'damaged') WHERE name = 'reacts_to'" as StaticString
    // Where not even that can be read, nothing of them can.
    if (try? connection.integer(known)) ?? 1 > 0 {
      try? connection.execute("CREATE TEMP VIEW old_message AS SELECT * FROM damaged.message")
    } else {
      try? connection.execute("CREATE TEMP VIEW old_message AS SELECT *, NULL, NULL FROM damaged.message")
    }
  }

  private static func detach(_ connection: Connection) {
    try? connection.execute("DROP VIEW IF EXISTS temp.old_message")
    // An attached file stays until the connection is closed, if it must: it is only read.
    try? connection.statement("DETACH damaged").run()
    try? connection.tolerateDamage(false)
  }

  private struct Part {
    let name: String
    let statements: [StaticString]
  }

  /// Ids go on where they were: messages that are recovered can be put in before those that come now.
  private static let parts = [
    Part(
      name: "the count of messages",
      statements: [
        """
        INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM damaged.sqlite_sequence WHERE name = 'message'
        """
      ]),
    Part(
      name: "what is remembered of the account",
      statements: ["INSERT INTO main.meta SELECT key, value FROM damaged.meta WHERE key <> 'indexed_up_to'"]),
    Part(
      name: "the roster",
      statements: [
        "INSERT INTO main.roster (jid, name, subscription, ask) SELECT jid, name, subscription, ask FROM damaged.roster",
        "INSERT INTO main.roster_group (jid, name) SELECT jid, name FROM damaged.roster_group",
      ]),
    Part(
      name: "where the stream and the server's archives stood",
      statements: [
        "INSERT INTO main.stream SELECT * FROM damaged.stream",
        "INSERT INTO main.progress SELECT * FROM damaged.progress",
      ]),
    // Each by an index, so that nothing else of the table need be whole.
    Part(
      name: "messages that wait to be sent",
      statements: [
        "INSERT INTO main.message SELECT * FROM temp.old_message WHERE state = 'queued'",
        "INSERT INTO main.message SELECT * FROM temp.old_message WHERE state = 'sent' AND direction = 'out'",
      ]),
    Part(
      name: "commands that wait for their answer",
      statements: [
        """
        INSERT OR IGNORE INTO main.message
        SELECT * FROM temp.old_message WHERE id IN (SELECT message FROM damaged.command WHERE finished IS NULL)
        """,
        "INSERT INTO main.command SELECT * FROM damaged.command WHERE finished IS NULL",
      ]),
  ]

  private enum Outcome { case kept, lost, none }

  private func copy(_ part: Part) -> Outcome {
    do throws(DatabaseError) {
      try connection.transaction { () throws(DatabaseError) in
        for statement in part.statements { try connection.statement(statement).run() }
      }
      return .kept
    } catch  where error.code == .error {
      // No such table: an older schema.
      return .none
    } catch {
      return .lost
    }
  }
}
