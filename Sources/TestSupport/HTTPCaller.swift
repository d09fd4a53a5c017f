import Glibc

/// A client of an HTTP server on a Unix socket, that says what it is told, byte for byte. Blocks, ten seconds at most.
public final class HTTPCaller {
  public struct Answer: Sendable, Hashable {
    public var status: Int
    /// By their names in small letters.
    public var fields: [String: String] = [:]
    public var body = ""
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  private let descriptor: Int32
  private var input: [UInt8] = []

  public init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw Failure(description: "connect to \(path): \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  /// False when the other side takes no more.
  @discardableResult
  public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  public func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// The next answer; nil at the end of the connection.
  public func answer() throws -> Answer? {
    while true {
      if let end = headEnd {
        let lines = String(decoding: input[..<end], as: UTF8.self).split(separator: "\r\n")
        var answer = Answer(status: lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0)
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          guard parts.count == 2 else { continue }
          answer.fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        input.removeSubrange(..<(end + 4))
        let length = answer.fields["content-length"].flatMap { Int($0) } ?? 0
        while input.count < length { guard try receive() else { return answer } }
        answer.body = String(decoding: input[..<length], as: UTF8.self)
        input.removeSubrange(..<length)
        // "Continue" is no answer.
        if answer.status == 100 { continue }
        return answer
      }
      guard try receive() else { return nil }
    }
  }

  private var headEnd: Int? {
    guard input.count >= 4 else { return nil }
    return (0...(input.count - 4)).first { input[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }
  }

  /// False at the end.
  private func receive() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count == 0 || (count < 0 && errno == ECONNRESET) { return false }
    guard count > 0 else { throw Failure(description: "no answer: \(String(cString: strerror(errno)))") }
    input += buffer[..<count]
    return true
  }

  /// One request and its answer on a connection of its own. `fields`: lines of the head.
  public static func ask(
    _ path: String, _ method: String, _ target: String, _ fields: [String] = [], body: String? = nil
  ) throws -> Answer? {
    let caller = try HTTPCaller(path)
    let length = body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
    let head = ["\(method) \(target) HTTP/1.1", "Host: bot", "Connection: close"] + fields + length
    caller.send(head.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
    return try caller.answer()
  }
}
