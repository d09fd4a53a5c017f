import CSQLite

/// What SQLite answers a call with: an extended result code (https://www.sqlite.org/rescode.html).
public struct ResultCode: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The code's family: `IOERR_FSYNC` is an `IOERR`.
  public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  public static let error = ResultCode(rawValue: SQLITE_ERROR)
  public static let abort = ResultCode(rawValue: SQLITE_ABORT)
  public static let busy = ResultCode(rawValue: SQLITE_BUSY)
  public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  public static let noMemory = ResultCode(rawValue: SQLITE_NOMEM)
  public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  public static let ioError = ResultCode(rawValue: SQLITE_IOERR)
  public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  public static let full = ResultCode(rawValue: SQLITE_FULL)
  public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  // The extended codes are macros that Swift does not import: family | number << 8.
  public static let ioErrorFsync = ResultCode(rawValue: SQLITE_IOERR | 4 << 8)
  public static let ioErrorDirectoryFsync = ResultCode(rawValue: SQLITE_IOERR | 5 << 8)
  public static let corruptVirtualTable = ResultCode(rawValue: SQLITE_CORRUPT | 1 << 8)
  public static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | 8 << 8)
  public static let constraintCheck = ResultCode(rawValue: SQLITE_CONSTRAINT | 1 << 8)
}
