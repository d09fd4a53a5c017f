import CLinux
import EventLoop
import Glibc

/// Writes into a pipe on the loop, as fast as its reader takes it; owns the descriptor.
@LoopActor
final class StreamWriter {
  private var descriptor: Int32
  private var bytes: [UInt8] = []
  private var offset = 0
  private var source: DescriptorSource?
  private var closesWhenWritten = false
  private let onWritten: @LoopActor (Int) -> Void

  /// `onWritten`: so many bytes more were taken by the pipe.
  init(_ descriptor: Int32, onWritten: @escaping @LoopActor (Int) -> Void = { _ in }) {
    self.descriptor = descriptor
    self.onWritten = onWritten
  }

  /// Nothing happens when its reader has gone.
  func write(_ more: [UInt8]) {
    guard descriptor >= 0 else { return }
    bytes += more
    if source == nil { writeOn() }
  }

  /// The reader sees the end after all that was written before.
  func end() {
    closesWhenWritten = true
    if offset == bytes.count { close() }
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
    let before = offset
    var isBlocked = false
    while offset < bytes.count, !isBlocked {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset)
      }
      if count < 0 {
        if errno == EINTR { continue }
        guard errno == EAGAIN else { return close() }
        isBlocked = true
      } else {
        offset += count
      }
    }
    let written = offset - before
    // What was written is let go now and then, for a move of the rest costs time.
    if !isBlocked || offset > 65_536 {
      bytes.removeSubrange(..<offset)
      offset = 0
    }
    watch(isBlocked)
    if !isBlocked, closesWhenWritten { close() }
    if written > 0 { onWritten(written) }
  }

  /// A reader that has gone is told as ready, too: then the next write fails.
  private func watch(_ isBlocked: Bool) {
    if isBlocked {
      if source == nil { source = DescriptorSource(descriptor, .writable) { [unowned self] _ in writeOn() } }
    } else {
      source?.cancel()
      source = nil
    }
  }

  isolated deinit { close() }
}
