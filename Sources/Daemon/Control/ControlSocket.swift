import CLinux
import Glibc

/// The listening Unix socket on which xmppbotctl finds the daemon.
///
/// Who may connect is the file's mode: 0660, so root, the daemon's own user and the members of its group.
struct ControlSocket: Sendable {
  let descriptor: Int32
  /// The file to remove at the end; nil for a socket that systemd made.
  let path: String?

  private static let backlog: Int32 = 16

  /// A socket that listens already, from systemd.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    path = nil
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
  }

  /// Listens at `path`; its folder is made if only that is missing. A socket that nobody listens on any more is replaced.
  init(listeningAt path: String) throws(ControlSocketError) {
    descriptor = socket(AF_UNIX, streamType | LINUX_SOCK_NONBLOCK, 0)
    guard descriptor >= 0 else { throw ControlSocketError(path, errno) }
    self.path = path
    do throws(ControlSocketError) {
      try Self.makeFolder(of: path)
      try Self.clear(path)
      try bind(path)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  func close() {
    Glibc.close(descriptor)
    if let path { unlink(path) }
  }

  private func bind(_ path: String) throws(ControlSocketError) {
    // Never open to others, not even for a moment: Linux gives the file the socket's own mode, less the umask, which a
    // unit may have set so that the group is shut out.
    fchmod(descriptor, 0o660)
    let bound = try withSocketAddress(path) { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
    if bound != 0 { throw ControlSocketError(path, bound) }
    chmod(path, 0o660)
    if listen(descriptor, Self.backlog) != 0 { throw ControlSocketError(path, errno) }
  }

  private static func makeFolder(of path: String) throws(ControlSocketError) {
    let folder = path.parentFolder
    guard access(folder, F_OK) != 0, errno == ENOENT, mkdir(folder, 0o750) != 0 else { return }
    throw ControlSocketError(
      path: path, reason: "its folder can't be made: \(String(cString: strerror(errno))); create \(folder)")
  }

  /// Makes room for a new socket: what is no socket, or still in use, is left alone.
  private static func clear(_ path: String) throws(ControlSocketError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw ControlSocketError(path: path, reason: "is there and is no socket; name another path in [control] socket")
    }
    let probe = socket(AF_UNIX, streamType | LINUX_SOCK_NONBLOCK, 0)
    defer { Glibc.close(probe) }
    let result = try withSocketAddress(path) { connect(probe, $0, $1) == 0 ? 0 : errno }
    switch result {
    case ECONNREFUSED: unlink(path)
    case ENOENT: break
    // A full queue (EAGAIN) is somebody's queue.
    case 0, EAGAIN:
      throw ControlSocketError(
        path: path, reason: "another xmppbotd is running with this socket; stop it first", isInUse: true)
    default: throw ControlSocketError(path, result)
    }
  }
}

/// A Unix stream socket, closed on exec.
let streamType = LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC

/// Why the control socket does not stand.
public struct ControlSocketError: Error, Sendable, CustomStringConvertible {
  public var path: String
  public var reason: String
  /// Somebody else listens there.
  public var isInUse = false
  public var description: String { "control socket \(path): \(reason)" }

  init(path: String, reason: String, isInUse: Bool = false) {
    self.path = path
    self.reason = reason
    self.isInUse = isInUse
  }

  init(_ path: String, _ errno: Int32) {
    self.init(
      path: path,
      reason: "\(String(cString: strerror(errno))); see that its folder exists and the daemon's user can write there")
  }
}

/// Calls `body` with the address of the Unix socket at `path`.
public func withSocketAddress<T>(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
) throws(ControlSocketError) -> T {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let capacity = MemoryLayout.size(ofValue: address.sun_path)
  guard path.utf8.count < capacity else {
    throw ControlSocketError(path: path, reason: "the path is longer than \(capacity - 1) bytes; choose a shorter one")
  }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
  }
}
