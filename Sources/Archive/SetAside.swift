import Glibc
import SQLite

/// A damaged archive that was renamed, so that a new one could be begun. Nothing of it is changed or ever overwritten.
public struct SetAside: Sendable, Hashable, CustomStringConvertible {
  /// What was wrong with it.
  public let reason: String
  /// The archive's path.
  public let path: String
  /// The files as they are called now: the database, if there was one, its log, its shared memory.
  public let files: [String]
  /// What could be taken over into the new archive, and what could not.
  public internal(set) var kept: [String] = []
  public internal(set) var lost: [String] = []

  public var description: String {
    var text = "the archive \(path) is damaged (\(reason)) and was set aside as \(files.joined(separator: ", ")); "
    text += "a new one is begun"
    if !kept.isEmpty { text += ", with " + kept.joined(separator: ", ") + " of the old" }
    if !lost.isEmpty { text += ", but without " + lost.joined(separator: ", ") }
    return text + "; " + remedy
  }

  private var remedy: String {
    let database = files.first { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    guard let database else { return "restore a backup to have the old messages back" }
    return "to get at the old messages: sqlite3 \(database) .recover | sqlite3 recovered.db; then check the disk"
  }

  /// Renames the archive's files to `<name>.damaged-2026-11-30T12-00-00`.
  static func perform(path: String, reason: String) throws(ArchiveError) -> SetAside {
    let endings = ["", "-wal", "-shm"].filter { exists(path + $0) }
    let name = freeName(path + ".damaged-" + stamp())
    var files: [String] = []
    for ending in endings {
      guard rename(path + ending, name + ending) == 0 else {
        throw .unusable(
          path: path + ending,
          reason:
            "is damaged (\(reason)) and can't be set aside (\(systemReason())); rename it by hand, or restore a backup")
      }
      files.append(name + ending)
    }
    Folder.sync(Folder.of(path))
    DamageMark.remove(path: path)
    return SetAside(reason: reason, path: path, files: files)
  }

  private static func freeName(_ wanted: String) -> String {
    var name = wanted
    var number = 1
    while ["", "-wal", "-shm"].contains(where: { exists(name + $0) }) {
      number += 1
      name = "\(wanted)-\(number)"
    }
    return name
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Now, in UTC, as a part of a file's name.
  private static func stamp() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    let text = [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      count = buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, 32, "%Y-%m-%dT%H-%M-%S", &parts) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
