import Glibc

/// A file that grows by lines: which of them were not yet taken, and a descriptor that tells when there may be more.
final class LineFile {
  let path: String
  /// Readable when the file may have grown.
  let changes: Int32
  private let descriptor: Int32
  private var partial: [UInt8] = []
  private var pending: [String] = []

  /// Creates the file if need be; what it holds already counts as taken.
  init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Problem("\(path): \(systemError())") }
    lseek(descriptor, 0, SEEK_END)
    changes = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    inotify_add_watch(changes, path, UInt32(IN_MODIFY))
  }

  deinit {
    close(descriptor)
    close(changes)
  }

  /// Takes the first line that `matches`; those before it stay.
  func take(where matches: (String) -> Bool) -> String? {
    readOn()
    return pending.firstIndex(where: matches).map { pending.remove(at: $0) }
  }

  /// All lines that were not yet taken, which now they are.
  func takeAll() -> [String] {
    readOn()
    defer { pending = [] }
    return pending
  }

  var text: String { contents(of: path) }

  /// The last lines, for a failure's description.
  var tail: String {
    let lines = text.split(separator: "\n").suffix(25).map { $0.prefix(400) }
    return "Its last lines:\n" + lines.joined(separator: "\n")
  }

  private func readOn() {
    var events = [UInt8](repeating: 0, count: 4_096)
    while read(changes, &events, events.count) > 0 {}
    let room = 65_536
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 1)
    defer { buffer.deallocate() }
    while case let count = read(descriptor, buffer, room), count > 0 {
      var start = buffer
      let end = buffer + count
      while let newline = memchr(start, 0x0A, end - start) {
        partial.append(contentsOf: UnsafeRawBufferPointer(start: start, count: newline - start))
        pending.append(String(decoding: partial, as: UTF8.self))
        partial = []
        start = newline + 1
      }
      partial.append(contentsOf: UnsafeRawBufferPointer(start: start, count: end - start))
    }
  }
}
