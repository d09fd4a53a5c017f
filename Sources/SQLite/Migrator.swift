/// Brings a database's schema forward, never back. The version is the number of migrations applied, kept in
/// `PRAGMA user_version`; `PRAGMA application_id` says whose file it is.
public struct Migrator: Sendable {
  public let applicationID: Int32
  /// Scripts, oldest first. One that has been released is never changed.
  public let migrations: [StaticString]

  public init(applicationID: Int32, migrations: [StaticString]) {
    self.applicationID = applicationID
    self.migrations = migrations
  }

  public var latestVersion: Int { migrations.count }

  /// Whether a file that carries these marks may be used; throws if not. `isEmpty` says that it holds no tables.
  public func check(applicationID found: Int32, version: Int, isEmpty: Bool) throws(MigrationError) {
    if found == 0, version == 0, isEmpty { return }
    guard found == applicationID else { throw .otherApplication(id: found) }
    guard version <= latestVersion else { throw .newerSchema(found: version, known: latestVersion) }
  }

  /// Checks an open database by what it says now, its log included. Reads only.
  public func check(_ connection: Connection) throws(MigrationError) -> Int {
    let id: Int64
    let version: Int64
    let tables: Int64
    do throws(DatabaseError) {
      id = try connection.integer("PRAGMA application_id")
      version = try connection.integer("PRAGMA user_version")
      tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
    } catch {
      throw .failed(error)
    }
    try check(applicationID: Int32(truncatingIfNeeded: id), version: Int(version), isEmpty: tables == 0)
    return Int(version)
  }

  /// Applies what is missing, each migration in a transaction of its own.
  public func migrate(_ connection: Connection) throws(MigrationError) {
    let version = try check(connection)
    guard version < latestVersion else { return }
    do throws(DatabaseError) {
      for next in version..<latestVersion {
        try connection.transaction { () throws(DatabaseError) in
          try connection.execute(migrations[next])
          try connection.setPragma("application_id", to: Int(applicationID))
          try connection.setPragma("user_version", to: next + 1)
        }
      }
    } catch {
      throw .failed(error)
    }
  }
}

/// Why a database can't be used with this version of the program.
public enum MigrationError: Error, Sendable, Hashable {
  /// Written by a newer program.
  case newerSchema(found: Int, known: Int)
  /// Some other program's file.
  case otherApplication(id: Int32)
  case failed(DatabaseError)
}
