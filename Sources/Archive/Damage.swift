import Glibc
import SQLite

/// What shows at opening, and costs next to nothing, that the archive is damaged. A thorough look takes minutes in a large
/// file, so it is not taken then: damage that SQLite meets while the file is in use leaves a mark beside it.
enum Damage {
  /// Why the file behind `descriptor`, which is ours by its header, can't be used; nil: nothing is known against it.
  static func reason(_ descriptor: Int32, path: String, header: DatabaseHeader) -> String? {
    if let mark = DamageMark.read(path: path, descriptor) { return mark }
    var status = stat()
    // With a log, what is missing in the file may be there.
    guard fstat(descriptor, &status) == 0, let size = header.size, sizeOfFile(path + "-wal") == 0 else { return nil }
    return Int64(status.st_size) < size ? "the file is \(status.st_size) bytes long and should have \(size)" : nil
  }

  /// Whether the power went while the file was made: its first page was not written yet, and a journal says that there was nothing
  /// before. SQLite takes it back to that.
  static func isUnborn(_ descriptor: Int32, path: String) -> Bool {
    guard sizeOfFile(path + "-journal") > 0 else { return false }
    let start = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, 512, 0))
    }
    return start.allSatisfy { $0 == 0 }
  }

  /// Whether a file without a database's header was an archive of ours: its beginning is zeros, as a crash of the file
  /// system leaves them, or the rest of it still holds the words of our schema.
  static func wasOurs(path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return wasOurs(descriptor, path: path)
  }

  /// The same of a file that is open.
  static func wasOurs(_ descriptor: Int32, path: String) -> Bool {
    if DamageMark.read(path: path, descriptor) != nil { return true }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    if bytes.count >= 512, bytes.prefix(4_096).allSatisfy({ $0 == 0 }) { return true }
    let id = withUnsafeBytes(of: Schema.applicationID.bigEndian) { Array($0) }
    if bytes.count >= 100, Array(bytes[68..<72]) == id { return true }
    return bytes.contains("CREATE VIRTUAL TABLE message_text USING fts5".utf8)
  }
}

/// A file beside the archive that says that damage was met, so that the next start sees it. It names the file as it was
/// then: one that was restored or mended since is another.
enum DamageMark {
  private static func path(of archive: String) -> String { archive + ".is-damaged" }

  /// `<inode> <size> <seconds>.<nanoseconds of the last change>` of the file.
  private static func identity(_ status: stat) -> String {
    "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
  }

  /// Leaves the mark. Where it can't be written, the damage is met again.
  static func write(path archive: String, reason: String) {
    var status = stat()
    guard stat(archive, &status) == 0 else { return }
    let descriptor = open(path(of: archive), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let text = Array("\(identity(status))\n\(reason)\n".utf8)
    _ = Glibc.write(descriptor, text, text.count)
    fsync(descriptor)
    close(descriptor)
    Folder.sync(Folder.of(archive))
  }

  /// The reason, if the mark is for the file behind `descriptor`.
  static func read(path archive: String, _ descriptor: Int32) -> String? {
    let mark = open(path(of: archive), O_RDONLY | O_CLOEXEC)
    guard mark >= 0 else { return nil }
    defer { close(mark) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      count = max(0, Glibc.read(mark, buffer.baseAddress, buffer.count))
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 1)
    var status = stat()
    guard lines.count == 2, fstat(descriptor, &status) == 0, lines[0] == identity(status) else { return nil }
    return "damage was met before: " + lines[1].split(separator: "\n").joined(separator: " ")
  }

  static func remove(path archive: String) { unlink(path(of: archive)) }
}
