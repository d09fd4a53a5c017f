import EventLoop
import Transport
import XMPPClient
import XMPPStream

/// A connection whose other end is a test.
@LoopActor
public final class ScriptedStream: ByteStream {
  public var onReceive: @LoopActor (UnsafeRawBufferPointer) -> Void = { _ in }
  public var onEnd: @LoopActor (StreamFailure) -> Void = { _ in }
  public var onDrained: @LoopActor () -> Void = {}
  public var unsentBytes = 0
  public private(set) var writtenBytes = 0
  /// Written, but not yet with the other side.
  public var undeliveredBytes = 0
  public var deliveredBytes: Int { writtenBytes - undeliveredBytes }

  /// All that was written and not yet looked at.
  public var written: [UInt8] = []
  public private(set) var isClosed = false
  public private(set) var isReading = true
  private var handshake: (@LoopActor (Result<TLSInfo, StreamFailure>) -> Void)?

  public init() {}

  public func startTLS(
    domain: String, direct: Bool, completion: @escaping @LoopActor (Result<TLSInfo, StreamFailure>) -> Void
  ) {
    handshake = completion
  }

  /// The handshake that the client began, if any, ends.
  public func completeTLS(_ result: Result<TLSInfo, StreamFailure>) -> Bool {
    guard let completion = handshake else { return false }
    handshake = nil
    completion(result)
    return true
  }

  // As the real one: what comes after the closing is lost.
  public func write(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    written += bytes
    writtenBytes += bytes.count
  }
  public func flush() {}
  public func setReading(_ isReading: Bool) { self.isReading = isReading }
  public func close() { isClosed = true }
  public func abort() { isClosed = true }

  /// The server sends.
  public func deliver(_ text: String) {
    Array(text.utf8).withUnsafeBytes { onReceive($0) }
  }

  /// The connection breaks.
  public func lose(_ failure: StreamFailure) { onEnd(failure) }
}

/// Hands out scripted streams in place of dialling.
@LoopActor
public final class ScriptedDialer: Dialer {
  /// What was dialled, in order.
  public private(set) var requests: [ConnectionRequest] = []
  /// The stream of the last call.
  public private(set) var stream: ScriptedStream?
  private var answer: (@LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void)?

  public init() {}

  private final class Call: ScheduledWork {
    func cancel() {}
  }

  public func dial(
    _ request: ConnectionRequest,
    completion: @escaping @LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void
  ) -> any ScheduledWork {
    requests.append(request)
    answer = completion
    return Call()
  }

  /// The domain's further servers, as far as a test says so.
  public var hasNext = false

  public func dialNext(
    completion: @escaping @LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void
  ) -> any ScheduledWork {
    hasNext = false
    answer = completion
    return Call()
  }

  /// The call that waits is taken; false when none waits.
  public func accept(_ security: Security = .starttls) -> Bool {
    guard let answer else { return false }
    self.answer = nil
    let stream = ScriptedStream()
    self.stream = stream
    answer(.success((stream, Endpoint(host: "xmpp.example.org", port: 5222, security: security))))
    return true
  }

  /// The call that waits fails.
  public func refuse(_ failure: StreamFailure) -> Bool {
    guard let answer else { return false }
    self.answer = nil
    answer(.failure(failure))
    return true
  }
}
