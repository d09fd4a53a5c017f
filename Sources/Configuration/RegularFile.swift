import Glibc

/// Why a file cannot be read, and what to do.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: String
  public let remedy: String
  public let isMissing: Bool
  /// Whether this user may not read it.
  public let isDenied: Bool

  public init(_ reason: String, remedy: String, isMissing: Bool = false, isDenied: Bool = false) {
    self.reason = reason
    self.remedy = remedy
    self.isMissing = isMissing
    self.isDenied = isDenied
  }

  init(code: Int32) {
    switch code {
    case ENOENT: self.init("does not exist", remedy: "create it", isMissing: true)
    case EACCES:
      self.init(
        "cannot be read: permission denied", remedy: "use sudo, or let user \(userName(geteuid())) read it",
        isDenied: true)
    case EISDIR: self.init("is a directory", remedy: "name a file")
    default: self.init("cannot be read: \(String(cString: strerror(code)))", remedy: "repair it")
    }
  }

  public var description: String { "\(reason): \(remedy)" }
}

/// The contents of a small file that an operator wrote.
///
/// Never waits: pipes, sockets and devices are refused, except `/dev/null`, which is how a drop-in is masked.
/// - Parameter inspect: sees the file's status before anything is read, and may refuse the file.
public func readRegularFile(
  _ path: String, limit: Int = 1 << 20, inspect: (stat) throws(FileError) -> Void = { _ throws(FileError) in }
) throws(FileError) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
  guard descriptor >= 0 else { throw FileError(code: errno) }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw FileError(code: errno) }
  switch status.st_mode & S_IFMT {
  case S_IFREG: break
  case S_IFDIR: throw FileError(code: EISDIR)
  case S_IFCHR where isNullDevice(status): return []
  default: throw FileError("is not a regular file", remedy: "name a regular file")
  }
  try inspect(status)

  let tooLong = FileError("is longer than \(limit) bytes", remedy: "name the right file")
  guard Int(status.st_size) <= limit else { throw tooLong }
  var contents: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 16_384)
  while true {
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    if count == 0 { return contents }
    if count < 0 {
      if errno == EINTR { continue }
      throw FileError(code: errno)
    }
    contents += buffer[..<count]
    if contents.count > limit { throw tooLong }
  }
}

private func isNullDevice(_ status: stat) -> Bool {
  var null = stat()
  return stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev
}
