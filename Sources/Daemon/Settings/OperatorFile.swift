import BotKit
import Configuration
import Glibc

/// Checks of files that the configuration names.
enum OperatorFile {
  /// Why `path` must not be run as a command; nil when it may. It is the check before each run, so what is accepted here is not
  /// refused there.
  static func problemAsProgram(_ path: String) -> ValueProblem? {
    do throws(CommandDiagnostic) {
      try FileTrust.check(path, runBy: geteuid())
      return Interpreter.problem(of: path).map { ValueProblem("can't be run: \($0.problem)", remedy: $0.remedy) }
    } catch {
      return ValueProblem("can't be run: \(error.problem)", remedy: error.remedy)
    }
  }

  /// Why `path` cannot be read; nil when it can.
  static func problemAsReadable(_ path: String) -> ValueProblem? {
    var status = stat()
    guard stat(path, &status) == 0 else { return unreadable(path) }
    guard status.st_mode & S_IFMT == S_IFREG else { return ValueProblem("is not a file", remedy: "name a file") }
    guard access(path, R_OK) == 0 else {
      return ValueProblem("cannot be read by user \(userName(geteuid()))", remedy: "chmod a+r \(path)")
    }
    return nil
  }

  private static func unreadable(_ path: String) -> ValueProblem {
    switch errno {
    case ENOENT where ["/tmp/", "/var/tmp/", "/home/", "/root/"].contains(where: path.hasPrefix):
      ValueProblem(
        "does not exist",
        remedy: "create it, or correct the path; a service of systemd's sees no such folder, only one of its own")
    case ENOENT: ValueProblem("does not exist", remedy: "create it, or correct the path")
    case EACCES:
      ValueProblem(
        "is in a folder that user \(userName(geteuid())) may not enter", remedy: "move it, or chmod the folder")
    case let code: ValueProblem("cannot be examined: \(String(cString: strerror(code)))", remedy: "correct the path")
    }
  }
}
