/// Bytes that wait to be sent.
struct OutputBuffer {
  /// More capacity than this is given back once all is sent.
  private static let keptCapacity = 64 * 1024

  private var bytes: [UInt8] = []
  private var sent = 0

  var count: Int { bytes.count - sent }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: more)
  }

  func withUnsent<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
  }

  /// The first `count` unsent bytes are sent.
  mutating func consume(_ count: Int) {
    sent += count
    if sent == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
      sent = 0
    } else if sent > Self.keptCapacity, sent > bytes.count / 2 {
      bytes.removeFirst(sent)
      sent = 0
    }
  }
}
