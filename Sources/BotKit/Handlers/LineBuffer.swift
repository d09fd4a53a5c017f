/// Cuts a stream of bytes into lines, each whole. One that is too long is passed over, and costs no memory.
struct LineBuffer {
  enum Line: Hashable {
    case line([UInt8])
    /// It had so many bytes.
    case tooLong(Int)
  }

  let longest: Int
  private var bytes: [UInt8] = []
  private var start = 0
  /// Up to here there is no line break.
  private var searched = 0
  /// Bytes of a line that is being passed over; nil: of none.
  private var passedOver: Int?

  init(longest: Int) { self.longest = longest }

  mutating func add(_ new: some Collection<UInt8>) { bytes.append(contentsOf: new) }

  /// The next line that is complete, without its line break.
  mutating func next() -> Line? {
    guard let end = bytes[searched...].firstIndex(of: 0x0a) else {
      searched = bytes.count
      if passedOver != nil || searched - start > longest { passOver() }
      compact()
      return nil
    }
    let line = take(upTo: end)
    start = end + 1
    searched = start
    return line
  }

  /// What stands there without a line break, at the end of the stream.
  mutating func end() -> Line? {
    guard start < bytes.count || passedOver != nil else { return nil }
    let line = take(upTo: bytes.count)
    bytes = []
    (start, searched) = (0, 0)
    return line
  }

  private mutating func take(upTo end: Int) -> Line {
    let count = end - start + (passedOver ?? 0)
    defer { passedOver = nil }
    if count > longest { return .tooLong(count) }
    return .line(Array(bytes[start..<end]))
  }

  private mutating func passOver() {
    passedOver = (passedOver ?? 0) + bytes.count - start
    start = bytes.count
  }

  private mutating func compact() {
    guard start > 0 else { return }
    bytes.removeSubrange(..<start)
    searched -= start
    start = 0
  }
}
