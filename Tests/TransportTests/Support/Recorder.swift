import EventLoop

@testable import Transport

/// Collects what a connection tells, and waits for it.
@LoopActor
final class Recorder {
  private(set) var bytes: [UInt8] = []
  private(set) var reason: CloseReason?
  /// How often bytes were told.
  private(set) var turns = 0
  private var waiter: (isMet: () -> Bool, continuation: CheckedContinuation<Void, Never>)?

  init(_ connection: Connection) {
    connection.onReceive = { [weak self] in
      self?.bytes += $0
      self?.turns += 1
      self?.check()
    }
    connection.onClose = { [weak self] in
      self?.reason = $0
      self?.check()
    }
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Returns once `condition` holds; it is looked at whenever the connection tells something.
  func until(_ condition: @escaping () -> Bool) async {
    await withCheckedContinuation { continuation in
      // Looked at here: the await before may have let other work of the loop in.
      if condition() { continuation.resume() } else { waiter = (condition, continuation) }
    }
  }

  /// The reason of the end, once it has come.
  func end() async -> CloseReason? {
    await until { self.reason != nil }
    return reason
  }

  private func check() {
    guard let waiter, waiter.isMet() else { return }
    self.waiter = nil
    waiter.continuation.resume()
  }
}

/// The next turn of the loop.
func nextTurn() async {
  await withCheckedContinuation { continuation in EventLoop.main.post { continuation.resume() } }
}

extension Connector {
  /// `connect` for tests.
  @LoopActor
  func connect(
    _ request: ConnectionRequest, deadline: Duration = .seconds(20)
  ) async -> Result<(Connection, Endpoint), ConnectError> {
    await withCheckedContinuation { continuation in
      connect(request, deadline: deadline) { continuation.resume(returning: $0) }
    }
  }

  @LoopActor
  func connectNext(deadline: Duration = .seconds(20)) async -> Result<(Connection, Endpoint), ConnectError> {
    await withCheckedContinuation { continuation in
      connectNext(deadline: deadline) { continuation.resume(returning: $0) }
    }
  }
}

extension Connection {
  /// A connection to a loopback port.
  @LoopActor
  static func toLoopback(_ port: UInt16) async throws -> Connection {
    let connector = Connector()
    return try await connector.connect(ConnectionRequest(domain: "xmpp.test", host: "127.0.0.1", port: port)).get().0
  }

  @LoopActor
  func startTLS(_ context: TLSContext, domain: String, alpn: [String] = []) async -> Result<TLSInfo, TLSError> {
    await withCheckedContinuation { continuation in
      startTLS(context, domain: domain, alpn: alpn) { continuation.resume(returning: $0) }
    }
  }
}
