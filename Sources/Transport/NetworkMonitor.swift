import CLinux
import EventLoop
import Glibc

/// Tells when the machine may have got a way out: a route, an address or a link has appeared (`NetworkChanges`).
///
/// For a session that waits before it tries again. It needs AF_NETLINK in a sandbox, and no rights.
@LoopActor
public final class NetworkMonitor {
  /// Changes come in flocks (link, address, routes): the handler is called this long after the first.
  static let settlingTime = Duration.milliseconds(300)
  /// Datagrams read in one go before the loop gets its turn.
  private static let turnLimit = 64

  private let descriptor: Int32
  private let handler: @LoopActor () -> Void
  private var changes = NetworkChanges()
  private var source: DescriptorSource?
  private var timer: TimerSource?

  /// Throws what the system says when netlink is not allowed here; one can do without.
  public init(handler: @escaping @LoopActor () -> Void) throws(Errno) {
    self.handler = handler
    let type = LINUX_SOCK_RAW | LINUX_SOCK_NONBLOCK | LINUX_SOCK_CLOEXEC
    descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE)
    guard descriptor >= 0 else { throw Errno(code: errno) }
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    address.nl_groups = UInt32(
      RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
      }
    }
    guard bound == 0 else {
      let error = Errno(code: errno)
      close(descriptor)
      throw error
    }
    source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.read() }
  }

  isolated deinit { cancel() }

  /// Ends the watching. Harmless when repeated.
  public func cancel() {
    timer?.cancel()
    timer = nil
    guard let source else { return }
    source.cancel()
    self.source = nil
    close(descriptor)
  }

  private func read() {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
      for _ in 0..<Self.turnLimit {
        var sender = sockaddr_nl()
        var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let count = withUnsafeMutablePointer(to: &sender) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            recvfrom(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC), $0, &size)
          }
        }
        if count < 0 {
          // Messages were lost: any of them may have been the one.
          if errno == ENOBUFS { report() }
          return
        }
        // Only the kernel (port 0) is believed.
        guard sender.nl_pid == 0 else { continue }
        let isWhole = count <= buffer.count
        if !isWhole || changes.read(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { report() }
      }
    }
  }

  private func report() {
    guard timer == nil else { return }
    timer = TimerSource(after: Self.settlingTime, slack: .milliseconds(100)) { [weak self] in
      self?.timer = nil
      self?.handler()
    }
  }
}
