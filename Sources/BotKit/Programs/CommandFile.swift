import CLinux
import EventLoop
import Glibc

/// A file that a command names, in its own folder.
public enum CommandFile {
  /// Opens `path`, from `folder` on where it does not begin with a slash, for reading. A command may not read all that who
  /// opens it may: so what is not below the folder is not even looked at, and no link is followed. Throws a reason for the log.
  public static func open(_ path: String, in folder: String) throws(LaunchFailure) -> Int32 {
    let outside = LaunchFailure(
      log: "\(path) is not in the command's folder \(folder), or behind a link: only what is there is sent")
    guard let below = relative(path, to: folder) else { throw outside }
    let base = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard base >= 0 else { throw LaunchFailure(log: "\(folder): \(Errno(code: errno))") }
    defer { close(base) }
    let descriptor = linux_open_beneath(base, below, O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = Errno(code: errno)
      throw [EXDEV, ELOOP].contains(code.code) ? outside : LaunchFailure(log: "\(folder)/\(below): \(code)")
    }
    var status = stat()
    // A second name may be that of a file elsewhere.
    guard fstat(descriptor, &status) == 0, status.st_nlink == 1 else {
      close(descriptor)
      throw outside
    }
    return descriptor
  }

  /// `path` from `folder` on, as it is written: nothing is asked of the file system but where the folder itself is, which is how a
  /// program may know it. Nil when it is elsewhere.
  private static func relative(_ path: String, to folder: String) -> String? {
    guard path.hasPrefix("/") else { return path }
    let real = realpath(folder, nil)
    defer { free(real) }
    let names = [folder] + (real.map { [String(cString: $0)] } ?? [])
    guard let base = names.first(where: { path.hasPrefix($0 + "/") }) else { return nil }
    return String(path.dropFirst(base.count).drop { $0 == "/" })
  }
}
