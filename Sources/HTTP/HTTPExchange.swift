import EventLoop

/// One request and its answer, from its head to its end.
@LoopActor
final class HTTPExchange {
  enum Stage {
    /// Its body is coming.
    case reading
    /// It is being answered, and has not been yet.
    case asked
    case answered(HTTPResponse)
    /// Its connection has gone, or has all that it gets.
    case over
  }

  let head: HTTPHead
  /// The library's connection, valid until the exchange is over.
  let connection: OpaquePointer
  var stage = Stage.reading
  /// The answer was there before the body; that is read and dropped, so that the client sees the answer.
  let refusal: HTTPResponse?
  /// The library waits with this connection until the answer is there.
  var isSuspended = false
  private(set) var body: [UInt8] = []
  private(set) var received = 0
  private let limit: Int

  init(_ head: HTTPHead, _ connection: OpaquePointer, limit: Int, refusal: HTTPResponse?) {
    self.head = head
    self.connection = connection
    self.limit = limit
    self.refusal = refusal
  }

  var isTooLong: Bool { received > limit }

  /// So much is dropped that the client is not worth an answer.
  var isFlood: Bool { received > 16 * limit }

  var announcesFlood: Bool { head.headers[.contentLength].flatMap { Int($0) }.map { $0 > 16 * limit } ?? false }

  func take(_ bytes: UnsafeRawBufferPointer) {
    received += bytes.count
    if refusal != nil || isTooLong { body = [] } else { body += bytes }
  }

  /// The body, which is asked for once.
  func takeBody() -> [UInt8] {
    defer { body = [] }
    return body
  }
}

/// How a request is answered, at once or later, and once: the first answer counts. One that is forgotten is answered with
/// an error, so that no client waits for ever.
@LoopActor
public final class HTTPReply {
  private let exchange: HTTPExchange
  private weak var server: HTTPServer?
  private var isDone = false

  init(_ exchange: HTTPExchange, _ server: HTTPServer) {
    self.exchange = exchange
    self.server = server
  }

  public func callAsFunction(_ response: HTTPResponse) {
    guard !isDone else { return }
    isDone = true
    server?.answer(exchange, response)
  }

  isolated deinit { callAsFunction(.forgotten) }
}

extension HTTPResponse {
  static let forgotten = HTTPResponse(
    refusing: 500, "answer", "the request was not answered", remedy: "report this as a bug of xmppbotd")

  static let stopping = HTTPResponse(
    refusing: 503, "daemon", "the bot is stopping, or reads its configuration", remedy: "try again in a moment",
    [.init("Retry-After", "5")])

  static func tooLong(_ limit: Int) -> HTTPResponse {
    HTTPResponse(
      refusing: 413, "body", "the request's body is longer than \(limit) bytes", remedy: "send less in one request")
  }
}
