import Glibc
import SQLite

/// A copy of the archive in another file, made while messages come in.
///
/// A connection of its own reads one moment of the archive, so the daemon's is not held up by a slow disk. What it costs is
/// that the daemon's log can't be cut until the copy is made; one that takes the log too far is given up.
public struct ArchiveBackup: Sendable {
  /// Bytes of the archive's log at which a copy is given up.
  private static let logLimit: Int64 = 1 << 30

  let path: String
  /// Whether a file that is there is replaced.
  let replaces: Bool

  /// To the file `path`.
  public init(to path: String, replaces: Bool) {
    self.path = path
    self.replaces = replaces
  }

  /// Makes the copy under a temporary name, looks whether it is sound, and only then gives it its name; says what is in it.
  /// `progress`: parts of a hundred that are done.
  public func make(
    of archive: String, progress: (Int) -> Void = { _ in }
  ) throws(ArchiveError) -> ArchiveCheck {
    try checkPlace(archive)
    let temporary = try makeTemporary()
    do throws(ArchiveError) {
      try ArchiveReader.withReader(path: archive) { reader throws(ArchiveError) in
        try copy(reader.connection, to: temporary, progress)
      }
      let check = try ArchiveReader.open(path: temporary).check()
      if let first = check.damage.first { throw unusable("the copy is damaged, as the archive seems to be (\(first))") }
      try putInPlace(temporary)
      return check
    } catch {
      unlink(temporary)
      throw error
    }
  }

  private func unusable(_ reason: String) -> ArchiveError { .unusable(path: path, reason: reason) }

  private func checkPlace(_ archive: String) throws(ArchiveError) {
    var there = stat()
    guard stat(path, &there) == 0 else { return }
    var own = stat()
    if stat(archive, &own) == 0, own.st_ino == there.st_ino, own.st_dev == there.st_dev {
      throw unusable("is the archive itself; name another file")
    }
    guard there.st_mode & S_IFMT == S_IFREG else { throw unusable("is not a file; name another") }
    guard replaces else { throw unusable("exists already; name another file, or replace it with --force") }
  }

  /// Readable for its owner alone, since it holds what everybody has said.
  private func makeTemporary() throws(ArchiveError) -> String {
    var template = Array((path + ".XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw unusable("can't be written (\(systemReason())); check its folder") }
    close(descriptor)
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private func copy(
    _ source: Connection, to temporary: String, _ progress: (Int) -> Void
  ) throws(ArchiveError) {
    var isHeld = false
    do throws(DatabaseError) {
      let destination = try Connection(path: temporary, access: .readWrite)
      try destination.writeWithoutSafety()
      let isComplete = try source.copy(to: destination) { left, pages in
        progress(pages == 0 ? 100 : 100 * (pages - left) / pages)
        isHeld = sizeOfFile(source.path + "-wal") > ArchiveBackup.logLimit
        return !isHeld
      }
      if isComplete { return }
    } catch {
      if error.isFull {
        throw unusable("could not be written: its disk is full; make room there, or name another file")
      }
      throw ArchiveError(error)
    }
    throw unusable(
      "could not be written fast enough: the archive's log has grown to \(ArchiveBackup.logLimit >> 20) MiB meanwhile; "
        + "copy to a faster disk")
  }

  private func putInPlace(_ temporary: String) throws(ArchiveError) {
    let descriptor = open(temporary, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unusable("can't be opened (\(systemReason()))") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw unusable("can't be synced (\(systemReason())); check its disk") }
    // Once more: somebody may have made it since.
    if !replaces, access(path, F_OK) == 0 { throw unusable("exists already") }
    guard rename(temporary, path) == 0 else { throw unusable("can't be given its name (\(systemReason()))") }
    guard Folder.sync(Folder.of(path)) else {
      throw unusable("was written, but its folder can't be synced (\(systemReason())); check the disk")
    }
  }
}
