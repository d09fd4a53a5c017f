import CLinux
import EventLoop
import Glibc

/// Packets on a Unix socket (SOCK_SEQPACKET, unix(7)): whole or not at all, with descriptors where need be.
enum PacketSocket {
  struct Packet {
    let strings: [String]
    /// The receiver's to close.
    let descriptors: [Int32]
  }

  /// So much of a packet is read; nothing that is said is near it but a failure's text.
  private static let longest = 65536

  /// A socket of this kind, close-on-exec.
  static func make(nonBlocking: Bool = false) throws(Errno) -> Int32 {
    let flags = nonBlocking ? LINUX_SOCK_NONBLOCK : 0
    let descriptor = socket(AF_UNIX, LINUX_SOCK_SEQPACKET | LINUX_SOCK_CLOEXEC | flags, 0)
    guard descriptor >= 0 else { throw Errno(code: errno) }
    return descriptor
  }

  /// Calls `body` with the address of the socket at `path`.
  static func withAddress<T>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T
  ) throws(Errno) -> T {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Errno(code: ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  static func send(_ strings: [String], descriptors: [Int32] = [], on socket: Int32) throws(Errno) {
    let bytes = LaunchMessage.bytes(strings)
    while linux_send_packet(socket, bytes, bytes.count, descriptors, Int32(descriptors.count)) < 0 {
      if errno != EINTR { throw Errno(code: errno) }
    }
  }

  /// The next packet; nil at the end, and for what is none of ours.
  static func receive(from socket: Int32) throws(Errno) -> Packet? {
    var bytes = [UInt8](repeating: 0, count: longest)
    var descriptors = [Int32](repeating: -1, count: Int(LINUX_PACKET_DESCRIPTORS))
    var number: Int32 = 0
    let count = linux_receive_packet(socket, &bytes, bytes.count, &descriptors, &number)
    guard count >= 0 else { throw Errno(code: errno) }
    let received = Array(descriptors.prefix(Int(number)))
    guard count > 0, let strings = LaunchMessage.strings(bytes[..<count]) else {
      received.forEach { close($0) }
      return nil
    }
    return Packet(strings: strings, descriptors: received)
  }
}
