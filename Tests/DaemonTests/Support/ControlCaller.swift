import Glibc
import JSON

@testable import Daemon

/// The other end of a control socket, as a test or an enemy holds it. Blocks, ten seconds at most.
final class ControlCaller {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let descriptor: Int32
  private var input: [UInt8] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, streamType, 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard try withSocketAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw Failure(description: "connect: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// False when the other side takes no more.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult
  func send(_ line: String) -> Bool { send(Array((line + "\n").utf8)) }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next line; nil at the end.
  func line() throws -> String? {
    while true {
      if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
        defer { input.removeSubrange(...end) }
        return String(decoding: input[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
      guard count > 0 else { throw Failure(description: "no answer: \(String(cString: strerror(errno)))") }
      input += buffer[..<count]
    }
  }

  /// The rows of an answer, and its end.
  func ask(_ request: JSON) throws -> (rows: [JSON], end: ControlMessage) {
    send(request.text())
    var rows: [JSON] = []
    while let line = try line() {
      guard let message = ControlMessage(try JSON(parsing: line)) else {
        throw Failure(description: "not understood: \(line)")
      }
      if case .row(let row) = message { rows.append(row) } else { return (rows, message) }
    }
    throw Failure(description: "the conversation was ended")
  }
}

extension ControlMessage {
  var result: JSON? { if case .done(let value) = self { value } else { nil } }
  var failure: ControlFailure? { if case .failed(let failure) = self { failure } else { nil } }
}
