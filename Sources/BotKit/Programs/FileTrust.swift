import EventLoop
import Glibc

/// Whether a program is safe to run: nobody but root and the daemon's own user could have put it there or changed it.
enum FileTrust {
  /// Resolves symbolic links and checks the file and the folder it is in. Returns the real path.
  static func check(_ path: String) throws(CommandDiagnostic) -> String {
    guard let resolved = realpath(path, nil) else {
      throw CommandDiagnostic(source: path, problem: "\(Errno(code: errno))", remedy: "check the file and its link")
    }
    defer { free(resolved) }
    let real = String(cString: resolved)
    let folder = real.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(real[..<$0]) } ?? ""
    try checkDirectory(folder.isEmpty ? "/" : folder, source: path)
    let status = try ownerChecked(real, source: path)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandDiagnostic(source: path, problem: "it is no regular file", remedy: "remove it")
    }
    guard status.st_mode & 0o111 != 0, access(real, X_OK) == 0 else {
      throw CommandDiagnostic(source: path, problem: "it is not executable", remedy: "chmod 755 \(path), or remove it")
    }
    return real
  }

  /// Checks a folder's owner and mode alone.
  static func checkDirectory(_ path: String, source: String) throws(CommandDiagnostic) {
    let status = try ownerChecked(path, source: source)
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandDiagnostic(source: source, problem: "\(path) is no folder", remedy: "make one of that name")
    }
  }

  /// Checks the owner and mode of what `path` names, a companion file for instance.
  @discardableResult
  static func ownerChecked(_ path: String, source: String) throws(CommandDiagnostic) -> stat {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw CommandDiagnostic(source: source, problem: "\(path): \(Errno(code: errno))", remedy: "check the file")
    }
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw CommandDiagnostic(
        source: source, problem: "\(path) belongs to user \(status.st_uid)", remedy: "chown root \(path)")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw CommandDiagnostic(
        source: source, problem: "others may write \(path)", remedy: "chmod go-w \(path)")
    }
    return status
  }
}
