import EventLoop
import Glibc

/// Whether a program is safe to run: nobody but root and the user who runs it could have put it there or changed it, or
/// renamed one of the folders on the way to it (as sshd's StrictModes looks at keys).
public enum FileTrust {
  /// Who may own a file, besides root.
  struct Owner {
    /// Nil: not known, so root alone.
    let user: uid_t?
    /// What they do with it: "runs".
    let role: String

    /// The user as whom it would run.
    static func runner(_ user: uid_t?) -> Owner { Owner(user: user, role: "would run") }
    /// This process, which reads it.
    static var reader: Owner { Owner(user: geteuid(), role: "reads") }

    fileprivate func admits(_ owner: uid_t) -> Bool { owner == 0 || owner == user }

    fileprivate var others: String {
      guard let user, user != 0 else { return "not to root" }
      return "neither to root nor to user \(user), who \(role) it"
    }
  }

  /// Checks the file behind all links and the folders it is in, up to the root, the same wherever it is asked.
  /// - Parameter user: as whom it would run; nil when that is not known: then it has to be root's.
  /// - Returns: the real path. That is what must be run: a link may lead elsewhere a moment later.
  @discardableResult
  public static func check(_ path: String, runBy user: uid_t?) throws(CommandDiagnostic) -> String {
    let (real, status) = try resolved(path, .runner(user))
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandDiagnostic(source: path, problem: "it is no regular file", remedy: "a program belongs there")
    }
    // What another user may run, only that user can tell.
    guard status.st_mode & 0o111 != 0, user != geteuid() || access(real, X_OK) == 0 else {
      throw CommandDiagnostic(source: path, problem: "it is not executable", remedy: "chmod 755 \(path), or remove it")
    }
    return real
  }

  /// Resolves symbolic links, and checks the owner and mode of the file and of the folders it is in, of whatever kind the file
  /// is.
  static func resolved(_ path: String, _ owner: Owner) throws(CommandDiagnostic) -> (real: String, status: stat) {
    guard let resolved = realpath(path, nil) else {
      throw CommandDiagnostic(source: path, problem: "\(Errno(code: errno))", remedy: "check the file and its link")
    }
    defer { free(resolved) }
    let real = String(cString: resolved)
    var folder = parent(real)
    try checkDirectory(folder, source: path, owner)
    while folder != "/" {
      folder = parent(folder)
      // In one like /tmp nobody can rename what is another's, and that what is ours has just been seen.
      _ = try ownerChecked(folder, source: path, owner, allowsSticky: true)
    }
    return (real, try ownerChecked(real, source: path, owner))
  }

  /// The folder of an absolute path.
  private static func parent(_ path: String) -> String {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
    return folder.isEmpty ? "/" : folder
  }

  /// Checks a folder's owner and mode alone.
  static func checkDirectory(_ path: String, source: String, _ owner: Owner) throws(CommandDiagnostic) {
    guard try ownerChecked(path, source: source, owner).st_mode & S_IFMT == S_IFDIR else {
      throw CommandDiagnostic(source: source, problem: "\(path) is no folder", remedy: "make one of that name")
    }
  }

  private static func ownerChecked(
    _ path: String, source: String, _ owner: Owner, allowsSticky: Bool = false
  ) throws(CommandDiagnostic) -> stat {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw CommandDiagnostic(source: source, problem: "\(path): \(Errno(code: errno))", remedy: "check the file")
    }
    guard owner.admits(status.st_uid) else {
      throw CommandDiagnostic(
        source: source, problem: "\(path) belongs to user \(status.st_uid), \(owner.others)",
        remedy: "chown root \(path)")
    }
    guard status.st_mode & 0o022 == 0 || allowsSticky && status.st_mode & S_ISVTX != 0 else {
      throw CommandDiagnostic(
        source: source, problem: "others may write \(path)", remedy: "chmod go-w \(path)")
    }
    return status
  }
}
