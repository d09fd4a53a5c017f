import CLinux
import EventLoop
import Glibc
import JSON

/// One connection of xmppbotctl.
@LoopActor
final class ControlClient {
  /// A request that is longer is refused.
  private static let requestLimit = 1_048_576
  /// More than this unsent, and a producer of rows should wait for `whenDrained`.
  private static let outputHighWater = 262_144

  private let descriptor: Int32
  private let handler: ControlServer.Handler
  private let ended: @LoopActor (ControlClient) -> Void
  private var source: DescriptorSource?
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  private var drained: (@LoopActor () -> Void)?
  private var isBusy = false

  init(
    descriptor: Int32, handler: @escaping ControlServer.Handler, ended: @escaping @LoopActor (ControlClient) -> Void
  ) {
    self.descriptor = descriptor
    self.handler = handler
    self.ended = ended
    source = DescriptorSource(descriptor, .readable) { [weak self] events in self?.ready(events) }
  }

  /// The connection still stands.
  var isOpen: Bool { source != nil }

  func send(_ message: ControlMessage) {
    guard isOpen else { return }
    output += Array(message.json.text().utf8)
    output.append(UInt8(ascii: "\n"))
    switch message {
    case .row: break
    case .done, .failed: isBusy = false
    }
    flush()
    if !isBusy { takeRequests() }
  }

  /// Calls `work` when most of what was sent has been taken; at once when it has been already, never when the other
  /// side is gone.
  func whenDrained(_ work: @escaping @LoopActor () -> Void) {
    guard isOpen else { return }
    if output.count < Self.outputHighWater { work() } else { drained = work }
  }

  func close() {
    guard let source else { return }
    source.cancel()
    self.source = nil
    drained = nil
    Glibc.close(descriptor)
    ended(self)
  }

  private func ready(_ events: DescriptorSource.Events) {
    if events.contains(.writable) { flush() }
    if events.contains(.readable) || events.contains(.hangup) { receive() }
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count > 0 {
      input += buffer[..<count]
      takeRequests()
    } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
      close()
    }
  }

  private func takeRequests() {
    while isOpen, !isBusy, let end = input.firstIndex(of: UInt8(ascii: "\n")) {
      let line = Array(input[..<end])
      input.removeSubrange(...end)
      isBusy = true
      do {
        handler(try JSON(parsing: line), self)
      } catch {
        send(.failed(ControlFailure(.usage, "the request is no JSON: \(error)")))
      }
    }
    if input.count > Self.requestLimit {
      send(.failed(ControlFailure(.usage, "the request is longer than \(Self.requestLimit) bytes")))
      close()
    }
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
    source?.watch(output.isEmpty ? .readable : [.readable, .writable])
    if output.count < Self.outputHighWater, let work = drained {
      drained = nil
      work()
    }
  }
}
