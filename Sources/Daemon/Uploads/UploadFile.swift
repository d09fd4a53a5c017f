import BotKit
import CLinux
import Glibc

/// A file that is ready to go up: open, with a name and a kind.
final class UploadFile: Sendable {
  let descriptor: Int32
  /// Bytes.
  let size: Int
  let name: String
  let contentType: String

  /// Owns `descriptor` from now on, even if this throws. `name`: nil for one after `fallback`.
  init(owning descriptor: Int32, name: String?, fallback: String) throws(UploadFailure) {
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      self.size = 0
      self.name = ""
      contentType = ""
      throw .unreadable("it is no regular file")
    }
    size = Int(status.st_size)
    let head = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, 512, 0))
    }
    let kind = FileKind.of(head)
    contentType = kind.contentType
    self.name = Self.name(name) ?? Self.name(fallback + kind.ending) ?? "file" + kind.ending
    lseek(descriptor, 0, SEEK_SET)
    if size == 0 { throw .unreadable("it is empty") }
  }

  /// Bytes in memory.
  convenience init(_ bytes: [UInt8], name: String?, fallback: String) throws(UploadFailure) {
    let descriptor = linux_memory_file()
    guard descriptor >= 0 else { throw .unreadable("no memory for it: \(String(cString: strerror(errno)))") }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written) }
      guard count > 0 else {
        close(descriptor)
        throw .unreadable("no memory for it: \(String(cString: strerror(errno)))")
      }
      written += count
    }
    try self.init(owning: descriptor, name: name, fallback: fallback)
  }

  /// A file that a command has named `path` and its launcher has opened.
  convenience init(opened descriptor: Int32, path: String, name: String?, fallback: String) throws(UploadFailure) {
    let last = path.split(separator: "/").last.map(String.init)
    try self.init(owning: descriptor, name: name ?? last, fallback: fallback)
  }

  deinit { close(descriptor) }

  /// `name` as a file can have it everywhere: without folders and control characters, at most 100 bytes, its ending kept.
  static func name(_ name: String?) -> String? {
    guard let name else { return nil }
    let last = name.split(separator: "/").last ?? ""
    let plain = String(
      String.UnicodeScalarView(
        last.unicodeScalars.filter { $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) && $0 != "\\" }))
    let trimmed = plain.drop { $0 == "." || $0 == " " }
    guard !trimmed.isEmpty else { return nil }
    guard trimmed.utf8.count > 100 else { return String(trimmed) }
    let ending = trimmed.lastIndex(of: ".").map { trimmed[$0...] }.flatMap { $0.utf8.count <= 10 ? $0 : nil } ?? ""
    var stem = trimmed.dropLast(ending.count)
    while stem.utf8.count > 100 - ending.utf8.count { stem.removeLast() }
    return String(stem + ending)
  }
}
