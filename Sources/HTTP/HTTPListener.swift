import CLinux
import Glibc

/// A socket that listens. Whoever serves on it closes it.
public struct HTTPListener: Sendable {
  public let address: HTTPAddress
  public let descriptor: Int32

  private static let backlog: Int32 = 64

  /// Why nothing listens there.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    public let address: HTTPAddress
    public let reason: String
    /// The place is taken.
    public let isInUse: Bool

    public var description: String { "[http] listen: \(address): \(reason)" }
  }

  /// - Parameter passed: the socket that the service manager passed for HTTP; it stays open and can be used again.
  public init(_ address: HTTPAddress, passed: Int32? = nil) throws(Failure) {
    self.address = address
    switch address {
    case .loopback(let host, let port): descriptor = try Self.bind(address, host, port)
    case .unix(let path): descriptor = try Self.bind(address, path)
    case .systemd:
      guard let passed else {
        throw Failure(
          address: address,
          reason: "the service manager passed no socket of that name: write FileDescriptorName=http into the socket's"
            + " unit, start that, and restart the daemon", isInUse: false)
      }
      descriptor = fcntl(passed, F_DUPFD_CLOEXEC, 0)
      guard descriptor >= 0 else { throw Self.failure(address, errno) }
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
  }

  /// Takes away the file of a Unix socket of ours; the descriptor is closed elsewhere.
  public func removeFile() {
    if case .unix(let path) = address { unlink(path) }
  }

  private static let type = LINUX_SOCK_STREAM | LINUX_SOCK_NONBLOCK | LINUX_SOCK_CLOEXEC

  private static func bind(_ address: HTTPAddress, _ host: String, _ port: UInt16) throws(Failure) -> Int32 {
    let isV6 = host.hasPrefix("[")
    let descriptor = socket(isV6 ? AF_INET6 : AF_INET, type, 0)
    guard descriptor >= 0 else { throw failure(address, errno) }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let result: Int32
    if isV6 {
      var place = sockaddr_in6()
      place.sin6_family = sa_family_t(AF_INET6)
      place.sin6_port = port.bigEndian
      inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &place.sin6_addr)
      result = bind(descriptor, &place)
    } else {
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      inet_pton(AF_INET, host, &place.sin_addr)
      result = bind(descriptor, &place)
    }
    return try listening(descriptor, address, bound: result)
  }

  private static func bind(_ address: HTTPAddress, _ path: String) throws(Failure) -> Int32 {
    var place = sockaddr_un()
    place.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    try clear(path, &place, address)
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw failure(address, errno) }
    // Linux gives the file the socket's own mode, less the umask: never open to others, not even for a moment.
    fchmod(descriptor, 0o660)
    let result = bind(descriptor, &place)
    if result == 0 { chmod(path, 0o660) }
    return try listening(descriptor, address, bound: result)
  }

  /// Makes room: a socket that nobody listens on any more is replaced, anything else is left alone.
  private static func clear(_ path: String, _ place: inout sockaddr_un, _ address: HTTPAddress) throws(Failure) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw Failure(address: address, reason: "is there and is no socket; name another path", isInUse: false)
    }
    let probe = socket(AF_UNIX, type, 0)
    defer { close(probe) }
    let result = withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(probe, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 ? 0 : errno
      }
    }
    switch result {
    case ECONNREFUSED: unlink(path)
    case ENOENT: break
    case 0, EAGAIN: throw failure(address, EADDRINUSE)
    default: throw failure(address, result)
    }
  }

  /// 0, or an error number.
  private static func bind<Place>(_ descriptor: Int32, _ place: inout Place) -> Int32 {
    withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Place>.size)) == 0 ? 0 : errno
      }
    }
  }

  private static func listening(_ descriptor: Int32, _ address: HTTPAddress, bound: Int32) throws(Failure) -> Int32 {
    let result = bound == 0 && listen(descriptor, backlog) != 0 ? errno : bound
    guard result == 0 else {
      close(descriptor)
      throw failure(address, result)
    }
    return descriptor
  }

  private static func failure(_ address: HTTPAddress, _ code: Int32) -> Failure {
    let remedy =
      switch code {
      case EADDRINUSE: "another program listens there: stop it, or choose another place"
      case EACCES, EPERM: "the daemon's user may not: choose a port above 1023, or a folder of the daemon's"
      case ENOENT: "its folder does not exist: create it, or use /run/xmppbotd"
      case EADDRNOTAVAIL, EAFNOSUPPORT: "this machine has no such address: use 127.0.0.1"
      default: "choose another place"
      }
    return Failure(
      address: address, reason: "\(String(cString: strerror(code))); \(remedy)", isInUse: code == EADDRINUSE)
  }
}
