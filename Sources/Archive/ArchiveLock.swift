import Glibc
import SQLite

/// The archive's file before SQLite sees it: made, locked against a second writer, and known to be ours.
/// One connection writes and checkpoints: SQLite 3.40 has a fault when several do (https://www.sqlite.org/wal.html#walresetbug).
///
/// `flock` is independent of the locks that SQLite takes. The descriptor must stay open until SQLite's are closed: closing
/// any descriptor of a file drops all POSIX locks that the process has on it.
struct ArchiveLock: ~Copyable {
  private let descriptor: Int32
  /// The file was there, and held nothing.
  let wasEmpty: Bool

  /// Creates the file with mode 0600 and its folder with 0700 where they are missing. Changes nothing in a file that exists.
  /// What shows at once of damage is an error. `rest` is called between two attempts to lock a file that another process
  /// has locked; it answers whether to try again.
  init(path: String, migrator: Migrator, rest: () -> Bool = ArchiveLock.patience()) throws(ArchiveError) {
    let folder = Folder.of(path)
    try ArchiveLock.prepare(folder: folder)
    let existed = access(path, F_OK) == 0
    let hasLog = sizeOfFile(path + "-wal") > 0
    if !existed, hasLog { throw ArchiveLock.damaged(path, "its database is gone, and only the log is there") }
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw .unusable(path: path, reason: "can't be opened (\(systemReason())); \(ArchiveLock.remedy)")
    }
    let isEmpty: Bool
    do throws(ArchiveError) {
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        guard rest() else { throw .inUse(path: path) }
      }
      if existed {
        isEmpty = try ArchiveLock.check(descriptor, path: path, migrator: migrator)
      } else {
        isEmpty = false
        Folder.sync(folder)
      }
      // SQLite would remove the log of an empty file.
      if isEmpty, hasLog { throw ArchiveLock.damaged(path, "its database is empty, and only the log holds something") }
    } catch {
      close(descriptor)
      throw error
    }
    wasEmpty = isEmpty
    self.descriptor = descriptor
  }

  /// To be called when SQLite has closed the file.
  consuming func release() {}

  deinit { close(descriptor) }

  /// Waits 10 ms at a time, a second in all. A process that was killed may have left a child that has not yet become
  /// another program, and has the lock until then: whoever comes next must not give up over it. The kernel has no
  /// `flock` with an end to its waiting.
  private static func patience() -> () -> Bool {
    let end = Monotonic.now + Monotonic.milliseconds(1_000)
    return {
      usleep(10_000)
      return Monotonic.now < end
    }
  }

  private static let remedy = "check its owner and mode, or name another file in [archive] path"

  private static func prepare(folder: String) throws(ArchiveError) {
    var status = stat()
    if stat(folder, &status) != 0 {
      guard errno == ENOENT, mkdir(folder, 0o700) == 0 else {
        throw .unusable(path: folder, reason: "the archive's folder can't be created (\(systemReason())); create it")
      }
      Folder.sync(folder + "/..")
    } else if status.st_mode & S_IFMT != S_IFDIR {
      throw .unusable(path: folder, reason: "is not a folder; name another file in [archive] path")
    }
    guard access(folder, W_OK | X_OK) == 0 else {
      // A unit's sandbox looks like a medium that can't be written.
      let remedy = errno == EROFS ? "name it in the unit's ReadWritePaths=" : "give it to the service's user"
      throw .unusable(
        path: folder,
        reason: "the archive's folder can't be written (\(systemReason())); \(remedy), or set [archive] path")
    }
  }

  private static func damaged(_ path: String, _ reason: String) -> ArchiveError {
    .damaged(DatabaseError(code: .corrupt, message: reason, path: path, operation: "open"))
  }

  /// Reads the file's header without SQLite, which would create a `-wal` beside it. Whether the file is empty.
  private static func check(_ descriptor: Int32, path: String, migrator: Migrator) throws(ArchiveError) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable(path: path, reason: "is not a file; name another in [archive] path")
    }
    if status.st_size == 0 { return true }
    guard let header = DatabaseHeader(descriptor: descriptor) else {
      if Damage.isUnborn(descriptor, path: path) { return true }
      guard Damage.wasOurs(descriptor, path: path) else { throw .notAnArchive(path: path) }
      throw damaged(path, "its beginning is overwritten")
    }
    do throws(MigrationError) {
      try migrator.check(
        applicationID: header.applicationID, version: header.userVersion, isEmpty: header.pageCount <= 1)
    } catch {
      throw ArchiveError(error, path: path)
    }
    if let reason = Damage.reason(descriptor, path: path, header: header) { throw damaged(path, reason) }
    return false
  }
}
