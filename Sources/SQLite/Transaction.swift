extension Connection {
  /// Runs `body` in a transaction that holds the write lock from its start; an error rolls it back.
  public func transaction<T>(_ body: () throws(DatabaseError) -> T) throws(DatabaseError) -> T {
    try statement("BEGIN IMMEDIATE").run()
    do throws(DatabaseError) {
      let result = try body()
      try statement("COMMIT").run()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Runs `body` in a savepoint inside the open transaction; an error undoes this part alone.
  public func savepoint<T>(_ body: () throws(DatabaseError) -> T) throws(DatabaseError) -> T {
    try statement("SAVEPOINT part").run()
    do throws(DatabaseError) {
      let result = try body()
      try statement("RELEASE part").run()
      return result
    } catch {
      // After some errors SQLite has rolled back everything, the savepoint too.
      if isInTransaction {
        try statement("ROLLBACK TO part").run()
        try statement("RELEASE part").run()
      }
      throw error
    }
  }
}
