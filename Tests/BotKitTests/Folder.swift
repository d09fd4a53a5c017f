import Glibc

/// A scratch folder, mode 0700, removed with the object.
final class Folder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/botkit.XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
  }

  deinit { Self.remove(path) }

  /// Writes a file and returns its path.
  @discardableResult
  func write(_ name: String, _ text: String, mode: mode_t = 0o755) -> String {
    let file = path + "/" + name
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    var text = text
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    fchmod(descriptor, mode)
    close(descriptor)
    return file
  }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != ".", name != ".." { remove(path + "/" + name) }
      }
      closedir(directory)
    }
    rmdir(path)
  }
}
