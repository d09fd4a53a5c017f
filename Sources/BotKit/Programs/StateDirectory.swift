import EventLoop
import Glibc

/// The folder that a command's program has for itself, and in which it starts.
enum StateDirectory {
  /// Makes `base` and the command's folder in it, mode 0700, where missing. Refuses what is no folder of ours.
  static func prepare(base: String, command: String) throws(Errno) -> String {
    let path = base + "/" + command
    try make(base)
    try make(path)
    return path
  }

  /// Whether a folder may have this name: that of one in `base`, and of no other.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains(UInt8(ascii: "/"))
  }

  private static func make(_ path: String) throws(Errno) {
    if mkdir(path, 0o700) == 0 { return }
    guard errno == EEXIST else { throw Errno(code: errno) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Errno(code: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Errno(code: ENOTDIR) }
    guard status.st_uid == geteuid() else { throw Errno(code: EPERM) }
  }
}
