import Configuration
import Glibc

/// Checks of files that the configuration names.
enum OperatorFile {
  /// Why `path` must not be run as a command; nil when it may.
  static func problemAsProgram(_ path: String) -> ValueProblem? {
    var status = stat()
    guard stat(path, &status) == 0 else { return unreadable() }
    guard status.st_mode & S_IFMT == S_IFREG else { return ValueProblem("is not a file", remedy: "name a program") }
    if let problem = changeableByOthers(status, path: path) ?? changeableFolder(of: path) { return problem }
    guard access(path, X_OK) == 0 else {
      return ValueProblem("cannot be executed by this user", remedy: "chmod 755 \(path)")
    }
    return nil
  }

  /// Why `path` cannot be read; nil when it can.
  static func problemAsReadable(_ path: String) -> ValueProblem? {
    var status = stat()
    guard stat(path, &status) == 0 else { return unreadable() }
    guard status.st_mode & S_IFMT == S_IFREG else { return ValueProblem("is not a file", remedy: "name a file") }
    guard access(path, R_OK) == 0 else {
      return ValueProblem("cannot be read by this user", remedy: "chmod a+r \(path)")
    }
    return nil
  }

  /// As strict as the check before each run (BotKit's `FileTrust`), so that what is accepted here is not refused there.
  private static func changeableByOthers(_ status: stat, path: String) -> ValueProblem? {
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      return ValueProblem("belongs to another user", remedy: "chown root \(path)")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      return ValueProblem("can be written by others", remedy: "chmod go-w \(path)")
    }
    return nil
  }

  /// Who may write to the folder of the program, behind all links, may put another in its place.
  private static func changeableFolder(of path: String) -> ValueProblem? {
    guard let real = realpath(path, nil) else { return unreadable() }
    defer { free(real) }
    let folder = String(cString: real).parentFolder
    var status = stat()
    guard stat(folder.isEmpty ? "/" : folder, &status) == 0 else { return unreadable() }
    guard let problem = changeableByOthers(status, path: folder) else { return nil }
    return ValueProblem("is in the folder \(folder), which \(problem.reason)", remedy: problem.remedy)
  }

  private static func unreadable() -> ValueProblem {
    switch errno {
    case ENOENT: ValueProblem("does not exist", remedy: "create it, or correct the path")
    case EACCES: ValueProblem("is in a folder that this user may not enter", remedy: "move it, or chmod the folder")
    case let code: ValueProblem("cannot be examined: \(String(cString: strerror(code)))", remedy: "correct the path")
    }
  }
}
