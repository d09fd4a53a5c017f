import Glibc

/// What shows from outside that somebody uses a database, or has used it.
struct FileState: Equatable {
  /// A log or shared memory lies beside it: it is in use, or was left so by a crash.
  let isShared: Bool
  private let node: UInt
  private let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  init(_ path: String) {
    isShared = sizeOfFile(path + "-wal") > 0 || access(path + "-shm", F_OK) == 0
    var status = stat()
    stat(path, &status)
    node = status.st_ino
    size = status.st_size
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
