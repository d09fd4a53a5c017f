import EventLoop
import TestSupport
import Testing
import XMPPTesting

@testable import HTTP

@Suite("An HTTP server on the loop", .serialized)
struct HTTPServerTests {
  init() { LoopThread.start() }

  /// A server that answers with what it was asked; /later waits for a word, /never forgets.
  @LoopActor
  final class Bench {
    nonisolated let folder = TemporaryFolder()
    nonisolated var path: String { folder.file("http.sock") }
    var server: HTTPServer?
    var held: [HTTPReply] = []

    init(_ limits: HTTPLimits = HTTPLimits()) async throws {
      server = HTTPServer(
        try HTTPListener(.unix(path: folder.file("http.sock"))), limits: limits,
        screen: { $0.path == "/no" ? HTTPResponse(refusing: 403, "path", "no", remedy: "none") : nil },
        handler: { [weak self] request, reply in self?.answer(request, reply) })
    }

    private func answer(_ request: HTTPRequest, _ reply: HTTPReply) {
      switch request.head.path {
      case "/later": held.append(reply)
      case "/never": break
      default:
        let to = request.head.arguments[.to] ?? "-"
        let text = "\(request.head.method) \(request.head.path) \(to) \(String(decoding: request.body, as: UTF8.self))"
        reply(HTTPResponse(200, "text/plain", Array(text.utf8)))
      }
    }

    func release() {
      for reply in held { reply(HTTPResponse(200, "text/plain", Array("late".utf8))) }
      held = []
    }

    func close() {
      server?.close()
      server = nil
    }

    /// Until the loop has turned so far.
    func turn(until condition: @LoopActor (Bench) -> Bool) async -> Bool {
      let deadline = ContinuousClock.now.advanced(by: .seconds(20))
      while !condition(self), .now < deadline {
        await withCheckedContinuation { next in EventLoop.main.post { next.resume() } }
      }
      return condition(self)
    }
  }

  @Test("a request is answered, with its query and its body")
  func answers() async throws {
    let bench = try await Bench()
    let get = try #require(try HTTPCaller.ask(bench.path, "GET", "/a?to=b%40c&x=y"))
    #expect(get.status == 200 && get.body == "GET /a b@c ")
    #expect(get.fields["content-type"] == "text/plain" && get.fields["cache-control"] == "no-store")
    #expect(try HTTPCaller.ask(bench.path, "POST", "/a", body: "hello")?.body == "POST /a - hello")
    await bench.close()
  }

  @Test("several requests of one connection are answered in turn")
  func keepsAlive() async throws {
    let bench = try await Bench()
    let caller = try HTTPCaller(bench.path)
    for number in 1...3 {
      caller.send("POST /\(number) HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\nhi")
      #expect(try caller.answer()?.body == "POST /\(number) - hi")
    }
    await bench.close()
  }

  @Test("a refusal that needs no body is answered when the body was dropped")
  func screens() async throws {
    let bench = try await Bench()
    let answer = try #require(
      try HTTPCaller.ask(bench.path, "POST", "/no", body: String(repeating: "x", count: 100_000)))
    #expect(answer.status == 403)
    #expect(answer.body == #"{"error":"path","reason":"no","remedy":"none"}"# + "\n")
    await bench.close()
  }

  @Test("a body beyond the limit is 413, whether its length was said or not; a flood ends the connection")
  func tooLong() async throws {
    var limits = HTTPLimits()
    limits.body = 1_000
    let bench = try await Bench(limits)
    let said = try HTTPCaller.ask(bench.path, "POST", "/a", body: String(repeating: "x", count: 1_001))
    #expect(said?.status == 413)
    let chunk = String(repeating: "x", count: 0x800)
    let unsaid = try HTTPCaller(bench.path)
    unsaid.send("POST /a HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n\(chunk)\r\n0\r\n\r\n")
    #expect(try unsaid.answer()?.status == 413)
    #expect(try HTTPCaller.ask(bench.path, "POST", "/a", body: String(repeating: "x", count: 1_000))?.status == 200)
    let announced = try HTTPCaller(bench.path)
    announced.send("POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
    #expect(try announced.answer()?.status == 413)
    let flood = try HTTPCaller(bench.path)
    flood.send("POST /a HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in 0..<64 { flood.send("800\r\n\(chunk)\r\n") }
    #expect(try flood.answer() == nil)
    await bench.close()
  }

  @Test("an answer may come later; others are answered meanwhile")
  func later() async throws {
    let bench = try await Bench()
    let patient = try HTTPCaller(bench.path)
    patient.send("GET /later HTTP/1.1\r\nHost: b\r\n\r\n")
    #expect(await bench.turn { $0.held.count == 1 })
    #expect(try HTTPCaller.ask(bench.path, "GET", "/a")?.status == 200)
    #expect(await bench.server?.pending == 1)
    await bench.release()
    #expect(try patient.answer()?.body == "late")
    #expect(await bench.turn { $0.server?.pending == 0 })
    await bench.close()
  }

  @Test("who goes before the answer is there does no harm")
  func impatient() async throws {
    let bench = try await Bench()
    var gone: HTTPCaller? = try HTTPCaller(bench.path)
    gone?.send("GET /later HTTP/1.1\r\nHost: b\r\n\r\n")
    #expect(await bench.turn { $0.held.count == 1 })
    gone = nil
    await bench.release()
    #expect(try HTTPCaller.ask(bench.path, "GET", "/a")?.status == 200)
    await bench.close()
  }

  @Test("a request that is forgotten is an error, not silence")
  func forgotten() async throws {
    let bench = try await Bench()
    #expect(try HTTPCaller.ask(bench.path, "GET", "/never")?.status == 500)
    await bench.close()
  }

  @Test("clients that send a byte, and no more, hold nothing up")
  func slow() async throws {
    let bench = try await Bench()
    let slow = try (0..<20).map { _ in try HTTPCaller(bench.path) }
    for caller in slow { caller.send("POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 10\r\n\r\nx") }
    for _ in 0..<10 { #expect(try HTTPCaller.ask(bench.path, "GET", "/a")?.status == 200) }
    for caller in slow { caller.send("123456789") }
    for caller in slow { #expect(try caller.answer()?.body == "POST /a - x123456789") }
    await bench.close()
  }

  @Test("nonsense is answered or cut off, and the next client is served")
  func nonsense() async throws {
    let bench = try await Bench()
    for text in [
      "\r\n\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}", "GET / HTTP/9.9\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", "GET /%zz%00 HTTP/1.1\r\nHost: b\r\n\r\n",
      "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 10_000) + "\r\n",
    ] {
      let caller = try HTTPCaller(bench.path)
      caller.send(text)
    }
    #expect(try HTTPCaller.ask(bench.path, "GET", "/a")?.status == 200)
    await bench.close()
  }

  @Test("who waits when it closes is told to try again, and the socket's file is gone")
  func closing() async throws {
    let bench = try await Bench()
    let waiting = try HTTPCaller(bench.path)
    waiting.send("GET /later HTTP/1.1\r\nHost: b\r\n\r\n")
    #expect(await bench.turn { $0.held.count == 1 })
    await bench.close()
    let answer = try waiting.answer()
    #expect(answer?.status == 503 && answer?.fields["retry-after"] != nil)
    // Harmless.
    await bench.release()
    #expect(bench.folder.files.isEmpty)
    #expect(throws: HTTPCaller.Failure.self) { try HTTPCaller(bench.path) }
  }

  @Test("more connections than the limit wait, and are served when there is room")
  func crowd() async throws {
    var limits = HTTPLimits()
    limits.connections = 4
    let bench = try await Bench(limits)
    var holders: [HTTPCaller] = try (0..<4).map { _ in try HTTPCaller(bench.path) }
    for holder in holders {
      holder.send("GET /a HTTP/1.1\r\nHost: b\r\n\r\n")
      #expect(try holder.answer()?.status == 200)
    }
    let late = try HTTPCaller(bench.path)
    late.send("GET /a HTTP/1.1\r\nHost: b\r\n\r\n")
    holders = []
    #expect(try late.answer()?.status == 200)
    await bench.close()
  }
}
