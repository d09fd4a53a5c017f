import CLinux
import EventLoop
import Glibc
import JSON
import Systemd

/// The Unix socket on which xmppbotctl talks to the daemon.
///
/// Who may connect is the file's mode; beyond that the kernel says who it is (SO_PEERCRED): root, the daemon's own user,
/// or a member of the socket's group.
@LoopActor
final class ControlServer {
  /// Takes a request and answers through the client, in its own time.
  typealias Handler = @LoopActor (_ request: JSON, _ client: ControlClient) -> Void

  private let descriptor: Int32
  /// The file to remove at the end; nil for a socket that systemd made.
  private let path: String?
  private let handler: Handler
  private var source: DescriptorSource?
  private var clients: [ObjectIdentifier: ControlClient] = [:]
  /// More than so many at once wait in the kernel's queue.
  private let limit = 16

  /// Listens at `path`, in a folder that must exist. A socket file that nobody listens on any more is replaced.
  static func listen(at path: String, handler: @escaping Handler) throws(ControlSocketError) -> ControlServer {
    let descriptor = socket(AF_UNIX, streamType | LINUX_SOCK_NONBLOCK, 0)
    guard descriptor >= 0 else { throw ControlSocketError(path: path, reason: String(cString: strerror(errno))) }
    var failure: ControlSocketError?
    do {
      if try isAlive(path) {
        failure = ControlSocketError(path: path, reason: "another xmppbotd is running with this socket; stop it first")
      } else {
        unlink(path)
        let mask = umask(0o117)
        let bound = try withSocketAddress(path) { Glibc.bind(descriptor, $0, $1) }
        let code = errno
        umask(mask)
        if bound != 0 || Glibc.listen(descriptor, 16) != 0 {
          failure = ControlSocketError(
            path: path, reason: "\(String(cString: strerror(code))); its folder must exist and be writable")
        }
      }
    } catch {
      failure = error
    }
    if let failure {
      Glibc.close(descriptor)
      throw failure
    }
    return ControlServer(descriptor: descriptor, path: path, handler: handler)
  }

  /// Serves a socket that already listens, such as one from systemd; `path` is removed at the end when given.
  init(descriptor: Int32, path: String?, handler: @escaping Handler) {
    self.descriptor = descriptor
    self.path = path
    self.handler = handler
    source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.accept() }
  }

  func close() {
    source?.cancel()
    source = nil
    for client in clients.values { client.close() }
    clients = [:]
    Glibc.close(descriptor)
    if let path { unlink(path) }
  }

  private func accept() {
    while clients.count < limit {
      let accepted = linux_accept(descriptor)
      guard accepted >= 0 else { return }
      let client = ControlClient(descriptor: accepted, handler: handler) { [weak self] client in
        guard let self else { return }
        clients[ObjectIdentifier(client)] = nil
        accept()
      }
      clients[ObjectIdentifier(client)] = client
    }
  }

  private static func isAlive(_ path: String) throws(ControlSocketError) -> Bool {
    let probe = socket(AF_UNIX, streamType, 0)
    defer { Glibc.close(probe) }
    return try withSocketAddress(path) { Glibc.connect(probe, $0, $1) } == 0
  }
}

private let streamType = LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC

/// Why the control socket does not stand.
public struct ControlSocketError: Error, Sendable, CustomStringConvertible {
  public var path: String
  public var reason: String
  public var description: String { "control socket \(path): \(reason)" }
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
