import CLinux
import EventLoop
import Glibc

/// Both ends of a new pipe, closed on exec, ours non-blocking.
struct Pipe {
  let reading: Int32
  let writing: Int32

  enum Side { case reading, writing }

  /// `ours`: the end that the loop uses.
  init(ours: Side) throws(Errno) {
    var ends: [Int32] = [-1, -1]
    guard linux_pipe_cloexec(&ends) == 0 else { throw Errno(code: errno) }
    (reading, writing) = (ends[0], ends[1])
    // O_NONBLOCK belongs to this end alone: the program's stays as programs expect it.
    _ = fcntl(ours == .reading ? reading : writing, F_SETFL, O_NONBLOCK)
  }
}

/// Reads a pipe's end on the loop until it ends; owns the descriptor.
@LoopActor
final class PipeReader {
  private let descriptor: Int32
  private var source: DescriptorSource?
  private let onBytes: @LoopActor (UnsafeRawBufferPointer) -> Void
  private let onEnd: @LoopActor () -> Void

  /// One for all: it is used within one call only.
  private static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

  init(
    _ descriptor: Int32, onBytes: @escaping @LoopActor (UnsafeRawBufferPointer) -> Void,
    onEnd: @escaping @LoopActor () -> Void
  ) {
    self.descriptor = descriptor
    self.onBytes = onBytes
    self.onEnd = onEnd
    source = DescriptorSource(descriptor, .readable) { [unowned self] _ in
      if readOnce() == .ended { self.onEnd() }
    }
  }

  var isOpen: Bool { source != nil }

  /// Nothing is read, and the writer waits once the pipe is full. The last bytes of a writer that has gone are read all
  /// the same.
  func pause() { source?.watch([]) }

  func resume() { source?.watch(.readable) }

  /// Reads what is there now, at most a mebibyte: enough for a full pipe, and no endless work when it is refilled.
  func drain() {
    for _ in 0..<16 where readOnce() != .some { return }
  }

  func close() {
    guard let source else { return }
    source.cancel()
    self.source = nil
    Glibc.close(descriptor)
  }

  private enum Outcome { case some, nothing, ended }

  private func readOnce() -> Outcome {
    guard isOpen else { return .ended }
    let count = read(descriptor, Self.buffer.baseAddress, Self.buffer.count)
    if count > 0 {
      onBytes(UnsafeRawBufferPointer(rebasing: Self.buffer[..<count]))
      return .some
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return .nothing }
    close()
    return .ended
  }

  isolated deinit { close() }
}

/// Writes bytes into a pipe on the loop, then closes it; owns the descriptor. A reader that goes away ends it.
@LoopActor
final class PipeWriter {
  private var descriptor: Int32
  private var bytes: [UInt8]
  private var offset = 0
  private var source: DescriptorSource?

  init(_ descriptor: Int32, _ bytes: [UInt8]) {
    self.descriptor = descriptor
    self.bytes = bytes
    writeOn()
    guard self.descriptor >= 0 else { return }
    source = DescriptorSource(descriptor, .writable) { [unowned self] _ in writeOn() }
  }

  func close() {
    guard descriptor >= 0 else { return }
    source?.cancel()
    source = nil
    bytes = []
    Glibc.close(descriptor)
    descriptor = -1
  }

  private func writeOn() {
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset) }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN { return }
        break
      }
      offset += count
    }
    close()
  }

  isolated deinit { close() }
}
