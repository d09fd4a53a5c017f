import CLinux
import EventLoop
import Glibc

/// The system calls on a TCP socket that the transport makes.
enum Socket {
  /// A socket that never blocks, is closed on exec, and sends small writes at once.
  static func open(_ family: IPAddress.Family) throws(Errno) -> Int32 {
    let type = LINUX_SOCK_STREAM | LINUX_SOCK_NONBLOCK | LINUX_SOCK_CLOEXEC
    let descriptor = socket(family == .v4 ? AF_INET : AF_INET6, type, Int32(IPPROTO_TCP))
    guard descriptor >= 0 else { throw Errno(code: errno) }
    sendAtOnce(descriptor)
    holdLittle(descriptor)
    return descriptor
  }

  /// Switches Nagle's algorithm off: a stanza is one write and must not wait for the last one's ack.
  static func sendAtOnce(_ descriptor: Int32) {
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Keeps what the system holds back on a narrow link to some seconds' worth: nothing can go before it any more.
  static func holdLittle(_ descriptor: Int32) {
    var bytes: Int32 = 32 * 1024
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &bytes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Starts to connect. True when it is connected already, false when writability will tell.
  static func connect(_ descriptor: Int32, to address: IPAddress, port: UInt16) throws(Errno) -> Bool {
    let result = address.withSocketAddress(port: port) { Glibc.connect(descriptor, $0, $1) }
    if result == 0 { return true }
    guard errno == EINPROGRESS else { throw Errno(code: errno) }
    return false
  }

  /// Both ends are this machine: they have one address.
  static func isLocal(_ descriptor: Int32) -> Bool {
    func address(_ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> IPAddress?
    {
      var storage = sockaddr_storage()
      var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          ask(descriptor, address, &size) == 0 ? IPAddress(address) : nil
        }
      }
    }
    guard let own = address({ getsockname($0, $1, $2) }) else { return false }
    return own == address { getpeername($0, $1, $2) }
  }

  static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

  /// The error that waits on the socket; 0 for none.
  static func pendingError(_ descriptor: Int32) -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
  }
}
