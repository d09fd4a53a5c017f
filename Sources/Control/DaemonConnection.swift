import CLinux
import Daemon
import Glibc
import JSON

/// A conversation with the running daemon. Blocks.
final class DaemonConnection {
  private let descriptor: Int32
  private var input: [UInt8] = []

  /// Nil when nobody listens there.
  init?(_ path: String) throws(ControlFailure) {
    let descriptor = socket(AF_UNIX, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
    guard descriptor >= 0 else { throw ControlFailure(.failed, String(cString: strerror(errno))) }
    let result: Int32
    do throws(ControlSocketError) {
      result = try withSocketAddress(path) { connect(descriptor, $0, $1) }
    } catch {
      close(descriptor)
      throw ControlFailure(.usage, error.description)
    }
    if result == 0 {
      self.descriptor = descriptor
      return
    }
    let code = errno
    close(descriptor)
    switch code {
    case ENOENT, ECONNREFUSED, ENOTDIR: return nil
    case EACCES, EPERM:
      throw ControlFailure(
        .notAllowed, "\(path): you may not talk to the daemon; use sudo, or join the group that owns the socket")
    default: throw ControlFailure(.failed, "\(path): \(String(cString: strerror(code)))")
    }
  }

  deinit { close(descriptor) }

  /// Asks; each row goes to `row`; what was said at the end is returned.
  /// - Parameter file: an open file that goes with the request.
  func ask(
    _ request: JSON, file: Int32? = nil, row: (JSON) throws(ControlFailure) -> Void = { _ in }
  ) throws(ControlFailure) -> JSON {
    let line = Array(request.text().utf8) + [UInt8(ascii: "\n")]
    // It goes with the first byte.
    if let file, linux_send_descriptor(descriptor, line, 1, file) != 1 { throw ended }
    try send(file == nil ? line : Array(line.dropFirst()))
    while true {
      let line = try receiveLine()
      let json: JSON
      do throws(JSONError) {
        json = try JSON(parsing: line)
      } catch {
        throw ControlFailure(.failed, "the daemon's answer can't be read (\(error)); are both of the same version?")
      }
      switch ControlMessage(json) {
      case .row(let value): try row(value)
      case .done(let value): return value
      case .failed(let failure): throw failure
      case nil: throw ControlFailure(.failed, "the daemon's answer is not understood; are both of the same version?")
      }
    }
  }

  private func send(_ bytes: [UInt8]) throws(ControlFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ended }
      rest = rest.dropFirst(count)
    }
  }

  private func receiveLine() throws(ControlFailure) -> [UInt8] {
    while true {
      if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(input[..<end])
        input.removeSubrange(...end)
        return line
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ended }
      input += buffer[..<count]
    }
  }

  private var ended: ControlFailure {
    ControlFailure(.failed, "the daemon ended the conversation; look into its log: journalctl -u xmppbotd")
  }
}
