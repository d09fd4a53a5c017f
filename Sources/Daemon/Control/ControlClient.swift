import CLinux
import EventLoop
import Glibc
import JSON

/// One connection of xmppbotctl: a request at a time, each answered before the next is read.
@LoopActor
final class ControlClient {
  /// A request that is longer is refused.
  nonisolated static let requestLimit = 1_048_576
  /// More than this unsent, and a producer of rows should wait for `whenDrained`.
  private static let outputHighWater = 262_144

  private let descriptor: Int32
  private let handler: ControlServer.Handler
  private let ended: @LoopActor (ControlClient) -> Void
  private var source: DescriptorSource?
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  private var drained: (@LoopActor () -> Void)?
  /// The other side has said all that it will.
  private var inputEnded = false
  private var isAnswering = false
  private var isPosted = false
  private var lastPercent: Int?
  /// Called once if the other side goes away.
  var whenGone: (@LoopActor () -> Void)?
  /// What came with the request that is being answered.
  private var passed: Int32?
  private(set) var lastHeard = ContinuousClock.now

  init(
    descriptor: Int32, handler: @escaping ControlServer.Handler, ended: @escaping @LoopActor (ControlClient) -> Void
  ) {
    self.descriptor = descriptor
    self.handler = handler
    self.ended = ended
    source = DescriptorSource(descriptor, .readable) { [weak self] in self?.ready($0) }
  }

  /// The connection still stands.
  var isOpen: Bool { source != nil }
  /// A request waits for its answer, or the answer to be taken.
  var isBusy: Bool { isAnswering || !output.isEmpty }

  /// Bytes that it has not taken yet.
  var unsent: Int { output.count }
  /// It takes so little that what is of passing interest is better left out.
  var isBehind: Bool { output.count >= Self.outputHighWater }

  /// Who asks, as the kernel knows it (SO_PEERCRED): `user 1000 (process 4711)`.
  var peer: String {
    var user: uid_t = 0
    var process: pid_t = 0
    guard linux_peer(descriptor, &user, &process) == 0 else { return "an unknown user" }
    return "user \(user) (process \(process))"
  }

  /// The open file that came with the request (SCM_RIGHTS, unix(7)); the caller owns it.
  func takeDescriptor() -> Int32? {
    defer { passed = nil }
    return passed
  }

  /// Sends rows of an answer.
  func send(rows: [JSON]) {
    guard isOpen else { return }
    for row in rows { append(.row(row)) }
    flush()
  }

  /// How far a long request has come, of a hundred; told when it changes.
  func send(percent: Int) {
    guard percent != lastPercent else { return }
    lastPercent = percent
    send(rows: [["percent": .int(percent)]])
  }

  /// Ends the answer.
  func finish(_ result: JSON = [:]) { finish(.done(result)) }

  /// Ends the answer: the request could not be done.
  func fail(_ code: ExitCode, _ reason: String) { finish(.failed(ControlFailure(code, reason))) }

  private func finish(_ message: ControlMessage) {
    guard isOpen, isAnswering else { return }
    append(message)
    isAnswering = false
    flush()
    takeNextSoon()
  }

  /// Calls `work` when most of what was sent has been taken; at once when it has been already, never when the other
  /// side is gone.
  func whenDrained(_ work: @escaping @LoopActor () -> Void) {
    guard isOpen else { return }
    if !isBehind { work() } else { drained = work }
  }

  func close() {
    guard let source else { return }
    source.cancel()
    self.source = nil
    drained = nil
    if let passed { Glibc.close(passed) }
    passed = nil
    Glibc.close(descriptor)
    ended(self)
    let gone = whenGone
    whenGone = nil
    gone?()
  }

  // MARK: - Input

  private func ready(_ events: DescriptorSource.Events) {
    if events.contains(.writable) { flush() }
    if events.contains(.readable) { receive() } else if !events.isDisjoint(with: [.hangup, .error]) { close() }
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var file: Int32 = -1
    let count = linux_receive_descriptor(descriptor, &buffer, buffer.count, &file)
    if file >= 0 {
      if let passed { Glibc.close(passed) }
      passed = file
    }
    if count > 0 {
      lastHeard = .now
      input += buffer[..<count]
      takeNext()
    } else if count == 0 {
      inputEnded = true
      takeNext()
    } else if errno != EAGAIN, errno != EINTR {
      close()
    }
  }

  /// The next request, if there is one: the others wait their turn, so that none holds up the loop.
  private func takeNext() {
    guard isOpen, !isAnswering else { return }
    if let end = input.firstIndex(of: UInt8(ascii: "\n")), end <= Self.requestLimit {
      let line = Array(input[..<end])
      input.removeSubrange(...end)
      isAnswering = true
      do {
        handler(try JSON(parsing: line), self)
      } catch {
        fail(.usage, "the request is \(error)")
      }
    } else if input.count > Self.requestLimit {
      input = []
      inputEnded = true
      isAnswering = true
      fail(.usage, "the request is longer than \(Self.requestLimit) bytes")
    }
    watch()
  }

  private func takeNextSoon() {
    guard !isPosted else { return }
    isPosted = true
    EventLoop.main.post { [weak self] in
      guard let self else { return }
      isPosted = false
      takeNext()
    }
  }

  // MARK: - Output

  private func append(_ message: ControlMessage) {
    output += message.json.utf8()
    output.append(UInt8(ascii: "\n"))
  }

  private func flush() {
    while isOpen, !output.isEmpty {
      let count = Glibc.send(descriptor, output, output.count, Int32(MSG_NOSIGNAL))
      if count > 0 {
        output.removeFirst(count)
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        return close()
      }
    }
    if !isBehind, let work = drained {
      drained = nil
      work()
    }
    watch()
  }

  /// Reads no further while a request is being answered; ends when all that was asked is answered and taken.
  private func watch() {
    guard let source else { return }
    if inputEnded, !isBusy, !input.contains(UInt8(ascii: "\n")) { return close() }
    var events: DescriptorSource.Events = []
    if !isAnswering, !inputEnded { events.insert(.readable) }
    if !output.isEmpty { events.insert(.writable) }
    source.watch(events)
  }
}
