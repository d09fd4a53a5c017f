import Glibc

/// The folder that a file is in.
enum Folder {
  static func of(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Makes new names in the folder, and names that are gone, survive a power cut.
  @discardableResult
  static func sync(_ folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }
}

/// What the last call of the system failed with.
func systemReason() -> String { String(cString: strerror(errno)) }

/// Bytes; 0 when there is no such file.
func sizeOfFile(_ path: String) -> Int64 {
  var status = stat()
  return stat(path, &status) == 0 ? Int64(status.st_size) : 0
}
