import EventLoop
import Glibc

/// A file that a command names, in its own folder.
public enum CommandFile {
  /// Opens `path`, from `folder` on where it does not begin with a slash, for reading. A command may not read all that who
  /// opens it may: so whatever name it gives, no link leads out of the folder. Throws a reason for the log.
  public static func open(_ path: String, in folder: String) throws(LaunchFailure) -> Int32 {
    let full = path.hasPrefix("/") ? path : folder + "/" + path
    let descriptor = Glibc.open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { throw LaunchFailure(log: "\(full): \(Errno(code: errno))") }
    var status = stat()
    let real = realpath("/proc/self/fd/\(descriptor)", nil)
    let base = realpath(folder, nil)
    defer {
      free(real)
      free(base)
    }
    // A second name may be that of a file elsewhere.
    guard let real, let base, fstat(descriptor, &status) == 0, status.st_nlink == 1,
      String(cString: real).hasPrefix(String(cString: base) + "/")
    else {
      close(descriptor)
      throw LaunchFailure(log: "\(full) is not in the command's folder \(folder): only what is there is sent")
    }
    return descriptor
  }
}
