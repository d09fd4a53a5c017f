import SQLite

/// What keeps the archive from doing what was asked.
public enum ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Written by a newer version of the program. The file was not touched.
  case newerSchema(path: String, found: Int, known: Int)
  /// To be brought up to date by the daemon before a reader can use it.
  case olderSchema(path: String, found: Int, known: Int)
  /// Not an archive of this program. The file was not touched.
  case notAnArchive(path: String)
  /// The file or its folder can't be opened, created or written.
  case unusable(path: String, reason: String)
  /// Another process writes to it.
  case inUse(path: String)
  /// Its content is not what SQLite wrote.
  case damaged(DatabaseError)
  /// Nothing of the group was stored; once there is room, the next write works.
  case diskFull(DatabaseError)
  /// The disk could not be made to keep what was written. What has been committed stands, but this process can't know any
  /// more what the file holds: close the archive and end.
  case fatal(DatabaseError)
  /// The file was removed, or another put in its place, while it was in use: what is written to it now is for nothing.
  case moved(path: String)
  /// Anything else; nothing of the work was stored, and the next may succeed.
  case failed(DatabaseError)
  /// After `close`.
  case closed
  case noThread(ThreadError)

  init(_ error: DatabaseError) {
    self =
      if error.isFailedSync { .fatal(error) } else if error.isFull { .diskFull(error) } else if error.isCorrupt {
        .damaged(error)
      } else if error.isBusy { .inUse(path: error.path) } else { .failed(error) }
  }

  init(_ error: MigrationError, path: String) {
    self =
      switch error {
      case .newerSchema(let found, let known): .newerSchema(path: path, found: found, known: known)
      case .otherApplication: .notAnArchive(path: path)
      case .failed(let error): ArchiveError(error)
      }
  }

  /// No later write will succeed: the archive is to be closed.
  public var isFatal: Bool {
    switch self {
    case .fatal, .damaged, .moved: true
    default: false
    }
  }

  public var description: String {
    switch self {
    case .newerSchema(let path, let found, let known):
      "\(path): schema version \(found) is newer than this program's \(known); install the version that wrote it, "
        + "or name another file in [archive] path"
    case .olderSchema(let path, let found, let known):
      "\(path): schema version \(found) is older than this program's \(known); start xmppbotd once to bring it up to date"
    case .notAnArchive(let path): "\(path): is no archive of xmppbotd; name another file in [archive] path"
    case .unusable(let path, let reason): "\(path): \(reason)"
    case .inUse(let path): "\(path): another process has the archive open for writing; end it first"
    case .damaged(let error): "the archive is damaged: \(error)"
    case .diskFull(let error): "the archive's disk is full, nothing more is stored until there is room: \(error)"
    case .fatal(let error): "the archive's disk failed to keep what was written: \(error)"
    case .moved(let path):
      "\(path): was moved, removed or replaced while it was in use; stop the bot before its archive is touched. "
        + "Its next start takes the file that is there then, or begins a new one"
    case .failed(let error): "the archive failed: \(error)"
    case .closed: "the archive is closed"
    case .noThread(let error): error.description
    }
  }
}
