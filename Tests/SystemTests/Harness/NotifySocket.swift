import CLinux
import Glibc

/// Stands in for the service manager: the socket that NOTIFY_SOCKET names (sd_notify(3)).
final class NotifySocket {
  let path: String
  private let descriptor: Int32
  private(set) var received: [String] = []

  init(in scratch: Scratch) throws {
    path = scratch.file("notify")
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | LINUX_SOCK_CLOEXEC | LINUX_SOCK_NONBLOCK, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw Problem("\(path): \(systemError())") }
  }

  deinit { close(descriptor) }

  /// Waits for the next notification that has a line which begins so; returns the whole.
  @discardableResult
  func next(_ start: String, within time: Duration = .seconds(30)) throws -> String {
    let deadline = Deadline(after: time)
    var buffer = [UInt8](repeating: 0, count: 8_192)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        received.append(text)
        if text.split(separator: "\n").contains(where: { $0.hasPrefix(start) }) { return text }
      } else if !deadline.awaitReadable([descriptor]) {
        throw Problem("no notification \(start) within \(time); there came: \(received)")
      }
    }
  }
}
