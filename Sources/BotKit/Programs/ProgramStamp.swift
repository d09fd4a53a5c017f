import Glibc

/// The state of a program's executable files: where one was changed or replaced, it is another program.
struct ProgramStamp: Sendable, Hashable {
  private struct File: Sendable, Hashable {
    let device: UInt
    let inode: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  /// For each word that names an executable file.
  private let files: [File?]

  /// - Parameter words: the program and its arguments: a script may be one of these. A file that is not executable is no
  ///   program, and may change while it runs.
  init(of words: [String]) {
    files = words.map { word in
      var status = stat()
      guard word.hasPrefix("/"), stat(word, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_mode & 0o111 != 0
      else { return nil }
      return File(
        device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
        seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }
  }
}
