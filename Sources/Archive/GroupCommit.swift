import SQLite

/// Makes many writes one transaction, so that one fsync serves them all.
struct GroupCommit {
  private let connection: Connection
  private let state = GroupState()

  init(_ connection: Connection) { self.connection = connection }

  /// Runs `writes` in order and commits them together. Each write's outcome is set; an error that concerns the group, not
  /// one write, is returned as well.
  func commit(_ writes: ArraySlice<PendingWrite>) -> ArchiveError? {
    do throws(GroupError) {
      do throws(GroupError) {
        try run(writes, isolated: false)
      } catch .oneWriteLeftChanges {
        try run(writes, isolated: true)
      }
      return nil
    } catch {
      let error =
        switch error {
        case .group(let error): ArchiveError(error)
        case .oneWriteLeftChanges: preconditionFailure("a savepoint leaves no changes")
        }
      for write in writes { write.fail(error) }
      return error
    }
  }

  private enum GroupError: Error {
    case group(DatabaseError)
    /// A write failed after it had changed something: its changes can't be undone alone without a savepoint.
    case oneWriteLeftChanges
  }

  /// A savepoint for each write would copy every page that the write changes. So it is used only when a write has failed
  /// half-way, which is rare: then the group starts again.
  private func run(_ writes: ArraySlice<PendingWrite>, isolated: Bool) throws(GroupError) {
    defer { state.clear() }
    do throws(DatabaseError) {
      try connection.statement("BEGIN IMMEDIATE").run()
    } catch {
      throw .group(error)
    }
    do throws(GroupError) {
      let transaction = ArchiveTransaction(connection, group: state)
      for write in writes { try run(write, transaction, isolated: isolated) }
      do throws(DatabaseError) {
        try state.writeNotes(transaction)
        try connection.statement("COMMIT").run()
      } catch {
        throw .group(error)
      }
    } catch {
      connection.rollBack()
      throw error
    }
  }

  private func run(
    _ write: PendingWrite, _ transaction: borrowing ArchiveTransaction, isolated: Bool
  ) throws(GroupError) {
    let changesBefore = connection.totalChanges
    let notesBefore = state.mark
    do throws(DatabaseError) {
      if isolated {
        try connection.savepoint { () throws(DatabaseError) in try write.run(transaction) }
      } else {
        try write.run(transaction)
      }
    } catch {
      if concernsGroup(error) { throw .group(error) }
      if !isolated, connection.totalChanges != changesBefore { throw .oneWriteLeftChanges }
      state.undo(to: notesBefore)
      write.fail(ArchiveError(error))
    }
    // A work may have caught an error that ended the transaction.
    if !connection.isInTransaction {
      throw .group(
        DatabaseError(
          code: .abort, message: "a write went on after an error that ended its transaction", path: connection.path,
          operation: "group commit"))
    }
  }

  /// Errors after which SQLite may have ended the transaction, or that the next write would meet as well.
  private func concernsGroup(_ error: DatabaseError) -> Bool {
    error.isFull || error.isIOError || error.isCorrupt || error.isReadOnly || error.code.primary == .noMemory
      || error.code.primary == .cannotOpen || !connection.isInTransaction
  }
}
