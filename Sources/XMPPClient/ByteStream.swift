import EventLoop
import Transport
import XMPPStream

/// What carries a stream: a TCP connection that can turn to TLS or, in tests, a script.
@LoopActor
public protocol ByteStream: AnyObject {
  /// Called with the bytes that came in; the buffer is valid for the length of the call.
  var onReceive: @LoopActor (UnsafeRawBufferPointer) -> Void { get set }
  /// Called once when the connection ends, unless we ended it.
  var onEnd: @LoopActor (StreamFailure) -> Void { get set }
  /// Called when all that was written has been taken by the system.
  var onDrained: @LoopActor () -> Void { get set }
  /// Written, but not yet taken by the system.
  var unsentBytes: Int { get }
  /// Written since the beginning.
  var writtenBytes: Int { get }
  /// Of these, what the other side's system has confirmed.
  var deliveredBytes: Int { get }

  /// Turns to TLS; `domain` is whose certificate must be shown.
  func startTLS(
    domain: String, direct: Bool, completion: @escaping @LoopActor (Result<TLSInfo, StreamFailure>) -> Void)
  /// Appends to what goes out with the next `flush()`.
  func write(_ bytes: [UInt8])
  func flush()
  /// While paused nothing is read, so that the sender feels it.
  func setReading(_ isReading: Bool)
  /// Sends what is left, says goodbye and closes.
  func close()
  /// Closes at once.
  func abort()
}

/// Finds and dials a server.
@LoopActor
public protocol Dialer {
  /// The domain has further servers behind the one dialled last.
  var hasNext: Bool { get }
  /// Goes on with the next of them, for when TLS or the stream fails on one.
  func dialNext(
    completion: @escaping @LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void
  ) -> any ScheduledWork
  /// Calls `completion` once and not from within this call, unless the result is cancelled before.
  func dial(
    _ request: ConnectionRequest,
    completion: @escaping @LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void
  ) -> any ScheduledWork
}
