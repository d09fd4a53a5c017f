import EventLoop
import Transport
import XMPPStream

/// Dials real servers: SRV, addresses raced, TCP, and TLS when the stream asks for it.
@LoopActor
public final class NetworkDialer: Dialer {
  /// For DNS and all of a domain's servers together.
  static let deadline = Duration.seconds(60)

  private let connector: Connector
  /// Whom to trust; replaced when the configuration is read again.
  public var context: TLSContext

  public init(context: TLSContext, resolver: Resolver = Resolver()) {
    connector = Connector(resolver: resolver)
    self.context = context
  }

  public var hasNext: Bool { connector.hasNext }

  /// Told which servers of a domain will be tried, in which order, and whether SRV records named them.
  public var onPlan: @LoopActor (_ targets: [Endpoint], _ fromRecords: Bool) -> Void {
    get { connector.onPlan }
    set { connector.onPlan = newValue }
  }

  public func dial(
    _ request: ConnectionRequest,
    completion: @escaping @LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void
  ) -> any ScheduledWork {
    connector.connect(request, deadline: Self.deadline) { [self] in completion(adopt($0)) }
    return Call(connector)
  }

  public func dialNext(
    completion: @escaping @LoopActor (Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure>) -> Void
  ) -> any ScheduledWork {
    connector.connectNext(deadline: Self.deadline) { [self] in completion(adopt($0)) }
    return Call(connector)
  }

  private func adopt(
    _ result: Result<(Connection, Endpoint), ConnectError>
  ) -> Result<(stream: any ByteStream, endpoint: Endpoint), StreamFailure> {
    result.map { (stream: NetworkStream($0, context), endpoint: $1) }.mapError { .unreachable($0.description) }
  }

  private final class Call: ScheduledWork {
    private let connector: Connector
    init(_ connector: Connector) { self.connector = connector }
    func cancel() { connector.cancel() }
  }
}

/// A TCP connection as the stream sees it.
@LoopActor
private final class NetworkStream: ByteStream {
  private let connection: Connection
  private let context: TLSContext

  init(_ connection: Connection, _ context: TLSContext) {
    self.connection = connection
    self.context = context
  }

  var onReceive: @LoopActor (UnsafeRawBufferPointer) -> Void = { _ in } {
    didSet { connection.onReceive = onReceive }
  }

  var onDrained: @LoopActor () -> Void {
    get { connection.onDrain }
    set { connection.onDrain = newValue }
  }

  var onEnd: @LoopActor (StreamFailure) -> Void = { _ in } {
    didSet {
      let onEnd = onEnd
      connection.onClose = { onEnd(.connectionLost($0.description)) }
    }
  }

  var unsentBytes: Int { connection.unsentBytes }
  var writtenBytes: Int { connection.writtenBytes }
  var deliveredBytes: Int { connection.deliveredBytes }

  func startTLS(
    domain: String, direct: Bool, completion: @escaping @LoopActor (Result<TLSInfo, StreamFailure>) -> Void
  ) {
    connection.startTLS(context, domain: domain, alpn: direct ? ["xmpp-client"] : []) { result in
      completion(
        result.mapError { error in
          if case .certificate = error { return .tls(error.description, isCertificate: true) }
          return .tls(error.description, isCertificate: false)
        })
    }
  }

  func write(_ bytes: [UInt8]) { connection.write(bytes) }
  func flush() { connection.flush() }
  func setReading(_ isReading: Bool) { isReading ? connection.resumeReading() : connection.pauseReading() }
  func close() {
    // The stream's owner lets go of us now; the connection lives until its last bytes are sent, two seconds at most.
    connection.onClose = { [connection] _ in withExtendedLifetime(connection) {} }
    connection.close()
  }
  func abort() { connection.abort() }
}
