import SQLite

/// The database's thread from its first step to its last: the lock, the connection, the work.
struct Service: Sendable {
  let path: String
  let options: ArchiveOptions
  let inbox: Monitor<Inbox>
  let noticed: Archive.Noticed
  let deliver: Archive.Delivery
  /// Called once, when the archive stands.
  let opened: @Sendable (SetAside?) -> Void

  /// Opens the archive and serves it until it is closed; errors are those of opening. A damaged one is set aside if the
  /// options say so.
  func run() throws(ArchiveError) {
    do throws(ArchiveError) {
      try serve(after: nil)
    } catch .damaged(let error) where options.damaged == .setAside {
      try serve(after: SetAside.perform(path: path, reason: error.message))
    }
  }

  private func serve(after setAside: SetAside?) throws(ArchiveError) {
    let lock = try ArchiveLock(path: path, migrator: Schema.migrator)
    do throws(ArchiveError) {
      if lock.wasEmpty { noticed(.wasEmpty(path: path)) }
      try use(setAside)
    } catch {
      lock.release()
      throw error
    }
    lock.release()
  }

  /// When it returns, the connection is closed.
  private func use(_ setAside: SetAside?) throws(ArchiveError) {
    let connection: Connection
    let worker: ArchiveWorker
    do throws(DatabaseError) {
      connection = try Connection(path: path, access: .readWrite)
    } catch {
      throw ArchiveError(error)
    }
    var setAside = setAside
    do throws(MigrationError) {
      worker = try ArchiveWorker(
        connection, options: options, inbox: inbox, noticed: noticed, deliver: deliver, replacing: &setAside)
    } catch {
      throw ArchiveError(error, path: path)
    }
    opened(setAside)
    worker.run()
  }
}
