import Glibc

/// A DNS server on a loopback UDP port that answers each question as a function says.
final class TestDNS: Sendable {
  struct Question: Hashable {
    let name: String
    /// 1 A, 28 AAAA, 33 SRV.
    let type: UInt16
  }

  enum Answer {
    case a([UInt8])
    case aaaa([UInt8])
    case srv(priority: UInt16, weight: UInt16, port: UInt16, target: String)
  }

  enum Reply {
    case records([Answer])
    /// A response code, 3 for "no such name", with no records.
    case code(UInt8)
    case silence
    /// Bytes in place of an answer, behind the question's id.
    case raw([UInt8])
    /// The answer is for another name than was asked.
    case otherQuestion
    /// The records, cut off after so many bytes of the message.
    case cut([Answer], Int)
  }

  private let descriptor: Int32
  let port: UInt16

  init(_ reply: @escaping @Sendable (Question) -> Reply) throws {
    (descriptor, port) = try LoopbackServer.bound(SOCK_DGRAM)
    let descriptor = descriptor
    LoopbackServer.thread {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        var sender = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &sender) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { recvfrom(descriptor, &buffer, 4096, 0, $0, &size) }
        }
        // A datagram of one byte is the end; so is silence for too long.
        guard count > 1 else { break }
        guard let message = Self.answer(Array(buffer.prefix(count)), reply) else { continue }
        withUnsafePointer(to: &sender) {
          _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            sendto(descriptor, message, message.count, 0, $0, size)
          }
        }
      }
      close(descriptor)
    }
  }

  deinit {
    // Wakes the thread, which closes the socket.
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    withUnsafePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, [0], 1, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// For `Resolver(servers:)`.
  var server: String { "127.0.0.1:\(port)" }

  private static func answer(_ query: [UInt8], _ reply: (Question) -> Reply) -> [UInt8]? {
    var labels: [String] = []
    var position = 12
    while position < query.count, query[position] != 0 {
      let end = position + 1 + Int(query[position])
      guard end < query.count else { return nil }
      labels.append(String(decoding: query[(position + 1)..<end], as: UTF8.self))
      position = end
    }
    guard position + 5 <= query.count else { return nil }
    let type = UInt16(query[position + 1]) << 8 | UInt16(query[position + 2])
    let question = Array(query[12..<(position + 5)])
    let id = Array(query.prefix(2))
    switch reply(Question(name: labels.joined(separator: ".").lowercased(), type: type)) {
    case .silence: return nil
    case .raw(let bytes): return id + bytes
    case .code(let code): return header(id, code: code, answers: 0) + question
    case .records(let answers): return message(id, question, answers)
    case .cut(let answers, let count): return Array(message(id, question, answers).prefix(count))
    case .otherQuestion:
      let other = name("other.test") + [0, UInt8(type & 0xff), 0, 1]
      return message(id, other, [.a([127, 0, 0, 1])])
    }
  }

  private static func header(_ id: [UInt8], code: UInt8, answers: Int) -> [UInt8] {
    id + [0x81, 0x80 | code, 0, 1] + big(UInt16(answers)) + [0, 0, 0, 0]
  }

  private static func message(_ id: [UInt8], _ question: [UInt8], _ answers: [Answer]) -> [UInt8] {
    answers.reduce(header(id, code: 0, answers: answers.count) + question) { bytes, answer in
      let (type, data): (UInt16, [UInt8]) =
        switch answer {
        case .a(let address): (1, address)
        case .aaaa(let address): (28, address)
        case .srv(let priority, let weight, let port, let target):
          (33, big(priority) + big(weight) + big(port) + name(target))
        }
      // The name is that of the question (RFC 1035, section 4.1.4); class IN, 60 seconds.
      return bytes + [0xc0, 12] + big(type) + [0, 1, 0, 0, 0, 60] + big(UInt16(data.count)) + data
    }
  }

  private static func name(_ text: String) -> [UInt8] {
    text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + [UInt8]($0.utf8) } + [0]
  }

  private static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
}
