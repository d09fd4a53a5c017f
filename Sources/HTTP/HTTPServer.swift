import CMicroHTTPD
import EventLoop

/// What clients may use.
public struct HTTPLimits: Sendable, Hashable {
  /// Connections at once; further ones wait in the kernel's queue.
  public var connections: UInt32 = 64
  /// Connections from one address at once. Behind a reverse proxy all of them come from one.
  public var perAddress: UInt32 = 48
  /// A connection on which nothing has moved for so many seconds is closed.
  public var idleSeconds: UInt32 = 15
  /// Bytes of a request's body.
  public var body = 262_144
  /// Bytes of memory for a connection, in which a request's head must fit.
  public var memory = 16_384

  public init() {}
}

/// An HTTP/1.1 server on the loop: GNU libmicrohttpd reads and writes, in its mode without a thread, when the loop tells
/// it that there is something to do. A slow client costs a descriptor, and never the loop.
@LoopActor
public final class HTTPServer {
  /// Looks at a request before its body is read; an answer here is the end of it.
  public typealias Screen = @LoopActor (HTTPHead) -> HTTPResponse?
  /// Answers a whole request, at once or later.
  public typealias Handler = @LoopActor (HTTPRequest, HTTPReply) -> Void

  public let listener: HTTPListener
  private let limits: HTTPLimits
  private let screen: Screen
  private let handler: Handler
  private var daemon: OpaquePointer?
  private var source: DescriptorSource?
  private var timer: TimerSource?
  private var waiting: [ObjectIdentifier: HTTPExchange] = [:]
  private var connections: UInt32 = 0
  private var isRunning = false
  private var isClosing = false

  /// Serves until `close`. Takes the listener over, also where it fails, which is for want of memory or descriptors.
  public init?(
    _ listener: HTTPListener, limits: HTTPLimits = HTTPLimits(), screen: @escaping Screen = { _ in nil },
    handler: @escaping Handler
  ) {
    self.listener = listener
    self.limits = limits
    self.screen = screen
    self.handler = handler
    daemon = cmhd_start(
      listener.descriptor, limits.connections, limits.perAddress, limits.idleSeconds, limits.memory, Self.access,
      Self.completed, Unmanaged.passUnretained(self).toOpaque())
    guard let daemon, case let descriptor = cmhd_epoll_descriptor(daemon), descriptor >= 0 else {
      // One that does not start closes the socket by itself, at least where memory for it could be had.
      if let daemon { MHD_stop_daemon(daemon) }
      listener.removeFile()
      daemon = nil
      return nil
    }
    source = DescriptorSource(descriptor, .readable) { [weak self] _ in self?.run() }
  }

  isolated deinit { close() }

  /// Requests that are being answered.
  public var pending: Int { waiting.count }

  /// Ends all connections; who waits for an answer is told to try again.
  public func close() {
    guard let daemon, !isClosing else { return }
    if isRunning { return EventLoop.main.post { [weak self] in self?.close() } }
    isClosing = true
    for exchange in waiting.values { answer(exchange, .stopping) }
    // The answers leave as far as the sockets take them: one turn to take them up, and those in which they are written.
    for _ in 0..<4 { MHD_run(daemon) }
    source?.cancel()
    timer?.cancel()
    listener.removeFile()
    MHD_stop_daemon(daemon)
    self.daemon = nil
  }

  // MARK: - The loop

  private func run() {
    guard let daemon, !isRunning else { return }
    isRunning = true
    MHD_run(daemon)
    let before = connections
    connections = cmhd_connections(daemon)
    isRunning = false
    // The library watches a listener that was full from the beginning of its next turn, for which nothing else may come.
    if connections < before { return EventLoop.main.post { [weak self] in self?.run() } }
    schedule()
  }

  /// Comes back when the library has something to do though nothing arrives.
  private func schedule() {
    timer?.cancel()
    timer = nil
    var milliseconds: UInt64 = 0
    guard let daemon, MHD_get_timeout(daemon, &milliseconds) == .YES else { return }
    if milliseconds == 0 {
      // After what else is due, so that no client keeps the loop.
      EventLoop.main.post { [weak self] in self?.run() }
    } else {
      timer = TimerSource(after: .milliseconds(Int64(clamping: milliseconds))) { [weak self] in self?.run() }
    }
  }

  // MARK: - Exchanges

  /// What the library tells of a request: first its head, then pieces of its body, then that it is whole; and once more
  /// when it goes on after a pause.
  private struct Call {
    let connection: OpaquePointer
    let path: UnsafePointer<CChar>
    let method: UnsafePointer<CChar>
    let data: UnsafePointer<CChar>?
    let count: UnsafeMutablePointer<Int>
    /// The exchange, once there is one.
    let slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  }

  private nonisolated static let access: MHD_AccessHandlerCallback = {
    context, connection, path, method, _, data, count, slot in
    guard let context, let connection, let path, let method, let count, let slot else { return .NO }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    // The library calls within `run`, on the loop's thread; the pointers do not leave this call.
    nonisolated(unsafe) let call = Call(
      connection: connection, path: path, method: method, data: data, count: count, slot: slot)
    return LoopActor.assumeIsolated { server.handle(call) ? MHD_Result.YES : MHD_Result.NO }
  }

  private nonisolated static let completed: MHD_RequestCompletedCallback = { context, _, slot, _ in
    guard let context, let held = slot?.pointee else { return }
    slot?.pointee = nil
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(held).takeRetainedValue()
    LoopActor.assumeIsolated { server.ended(exchange) }
  }

  /// False closes the connection.
  private func handle(_ call: Call) -> Bool {
    guard let held = call.slot.pointee else {
      let head = HTTPHead(call.connection, method: String(cString: call.method), path: String(cString: call.path))
      let exchange = HTTPExchange(head, call.connection, limit: limits.body, refusal: screen(head))
      call.slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
      // Who says that a flood is coming is told before it does.
      if exchange.announcesFlood { return send(.tooLong(limits.body), exchange) }
      return true
    }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(held).takeUnretainedValue()
    if call.count.pointee > 0 {
      exchange.take(UnsafeRawBufferPointer(start: call.data, count: call.count.pointee))
      call.count.pointee = 0
      return !exchange.isFlood
    }
    switch exchange.stage {
    case .reading: return ask(exchange)
    case .answered(let response): return send(response, exchange)
    case .asked, .over: return true
    }
  }

  /// The request is whole.
  private func ask(_ exchange: HTTPExchange) -> Bool {
    if let refusal = exchange.refusal { return send(refusal, exchange) }
    if exchange.isTooLong { return send(.tooLong(limits.body), exchange) }
    exchange.stage = .asked
    handler(HTTPRequest(exchange.head, body: exchange.takeBody()), HTTPReply(exchange, self))
    if case .answered(let response) = exchange.stage { return send(response, exchange) }
    exchange.isSuspended = true
    waiting[ObjectIdentifier(exchange)] = exchange
    MHD_suspend_connection(exchange.connection)
    return true
  }

  func answer(_ exchange: HTTPExchange, _ response: HTTPResponse) {
    guard case .asked = exchange.stage else { return }
    exchange.stage = .answered(response)
    guard exchange.isSuspended else { return }
    exchange.isSuspended = false
    waiting[ObjectIdentifier(exchange)] = nil
    MHD_resume_connection(exchange.connection)
    if isClosing { return }
    EventLoop.main.post { [weak self] in self?.run() }
  }

  private func send(_ response: HTTPResponse, _ exchange: HTTPExchange) -> Bool {
    exchange.stage = .over
    let queued = response.body.withUnsafeBytes { cmhd_response($0.baseAddress, $0.count) }
    guard let queued else { return false }
    defer { MHD_destroy_response(queued) }
    MHD_add_response_header(queued, "Content-Type", response.contentType)
    MHD_add_response_header(queued, "Cache-Control", "no-store")
    MHD_add_response_header(queued, "X-Content-Type-Options", "nosniff")
    for field in response.fields { MHD_add_response_header(queued, field.name, field.value) }
    return MHD_queue_response(exchange.connection, UInt32(response.status), queued) == .YES
  }

  private func ended(_ exchange: HTTPExchange) {
    exchange.stage = .over
    waiting[ObjectIdentifier(exchange)] = nil
  }
}

extension HTTPHead {
  /// What the library knows of a request.
  fileprivate init(_ connection: OpaquePointer, method: String, path: String) {
    self.init(method, path)
    for header in Header.allCases {
      if let value = cmhd_header(connection, header.rawValue) { headers[header] = String(cString: value) }
    }
    for argument in Argument.allCases {
      if let value = cmhd_argument(connection, argument.rawValue) { arguments[argument] = String(cString: value) }
    }
  }
}
