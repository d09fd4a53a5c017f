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

/// The pipes of a program's standard input, output and error: our ends, and its own.
struct StandardPipes {
  let input: Int32
  let output: Int32
  let error: Int32
  let theirs: ProgramLaunch.Streams

  /// - Parameter path: the program's, for the error.
  init(starting path: String) throws(LaunchFailure) {
    var pipes: [Pipe] = []
    do {
      for ours in [Pipe.Side.writing, .reading, .reading] { pipes.append(try Pipe(ours: ours)) }
    } catch {
      for pipe in pipes {
        close(pipe.reading)
        close(pipe.writing)
      }
      throw LaunchFailure(starting: path, error)
    }
    (input, output, error) = (pipes[0].writing, pipes[1].reading, pipes[2].reading)
    theirs = .init(input: pipes[0].reading, output: pipes[1].writing, error: pipes[2].writing)
  }

  func closeTheirs() { [theirs.input, theirs.output, theirs.error].forEach { close($0) } }
  func closeOurs() { [input, output, error].forEach { close($0) } }
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
