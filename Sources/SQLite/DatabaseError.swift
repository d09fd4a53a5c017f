import CSQLite

/// A call of SQLite that failed.
public struct DatabaseError: Error, Sendable, Hashable, CustomStringConvertible {
  public let code: ResultCode
  /// SQLite's own words.
  public let message: String
  /// The database file.
  public let path: String
  /// What was tried: a statement with its placeholders, never with values.
  public let operation: String

  public init(code: ResultCode, message: String, path: String, operation: String) {
    self.code = code
    self.message = message
    self.path = path
    self.operation = operation
  }

  /// The disk, or the database's own limit, is full.
  public var isFull: Bool { code.primary == .full }
  public var isIOError: Bool { code.primary == .ioError }
  /// Another connection holds the lock.
  public var isBusy: Bool { code.primary == .busy || code.primary == .locked }
  public var isCorrupt: Bool { !isCorruptIndex && (code.primary == .corrupt || code.primary == .notADatabase) }
  /// A full-text index, which is made of what else is in the file, is not what it should be.
  public var isCorruptIndex: Bool { code == .corruptVirtualTable }
  public var isReadOnly: Bool { code.primary == .readOnly }
  public var isConstraint: Bool { code.primary == .constraint }

  /// Data that was given to the disk may be lost, and asking again would not tell: the kernel
  /// reports a failed write-back once (https://www.sqlite.org/rescode.html#ioerr_fsync).
  public var isFailedSync: Bool { code == .ioErrorFsync || code == .ioErrorDirectoryFsync }

  public var description: String { "\(path): \(message) (code \(code.rawValue), in: \(operation)); \(remedy)" }

  private var remedy: String {
    switch code.primary {
    case .full: "make room on its disk"
    case .ioError: "check the disk and the kernel's log"
    case .busy, .locked: "another program holds the file: end it, then try again"
    case .corrupt, .notADatabase: "set the file aside and restore a backup, or recover it with `sqlite3 FILE .recover`"
    case .readOnly, .cannotOpen: "check the owner and mode of the file and its folder"
    case .noMemory: "give the process more memory"
    default: "this is a defect of the program, please report it"
    }
  }
}
