import EventLoop
import Glibc
import JSON
import Testing
import XMPPTesting

@testable import Daemon

/// The callers block, so these tests run off the loop, one after the other.
@Suite("The control socket, whoever is at its other end", .serialized)
struct ControlServerTests {
  private let scratch: Scratch
  private var path: String { scratch.file("s") }

  init() throws {
    LoopThread.start()
    scratch = try Scratch()
  }

  /// A server that answers `{"verb":"echo"}` with itself, and `{"verb":"count"}` with as many rows as asked for.
  private func serve(limit: Int = 32) async throws -> ControlServer {
    let socket = try ControlSocket(listeningAt: path)
    return await { @LoopActor in
      ControlServer(socket, limit: limit) { request, client in
        switch request["verb"]?.stringValue {
        case "count": Self.count(request["rows"]?.intValue ?? 0, client)
        case "never": break
        default: client.finish(request)
        }
      }
    }()
  }

  @LoopActor private static func count(_ rows: Int, _ client: ControlClient) {
    guard rows > 0 else { return client.finish() }
    client.send(rows: [["n": .int(rows), "padding": .string(String(repeating: "x", count: 1_000))]])
    client.whenDrained { EventLoop.main.post { count(rows - 1, client) } }
  }

  @Test("a request is answered, and then the next on the same connection, also when both came at once")
  func pipelined() async throws {
    let server = try await serve()
    let caller = try ControlCaller(path)
    #expect(try caller.ask(["a": 1]).end.result == ["a": 1])
    caller.send("{\"a\":2}\n{\"a\":3}")
    #expect(try caller.line() == #"{"done":{"a":2}}"#)
    #expect(try caller.line() == #"{"done":{"a":3}}"#)
    await server.close()
  }

  @Test("20,000 requests in one go are answered one by one, and others meanwhile")
  func manyRequests() async throws {
    let server = try await serve()
    let greedy = try ControlCaller(path)
    // As many as the sockets hold, and more: the rest goes out as answers are read.
    let writer = Array(repeating: "{}", count: 20_000).joined(separator: "\n") + "\n"
    var rest = Array(writer.utf8)[...]
    var answered = 0
    let polite = try ControlCaller(path)
    while answered < 20_000 {
      let sent = rest.prefix(30_000)
      if !sent.isEmpty {
        #expect(greedy.send(Array(sent)))
        rest = rest.dropFirst(sent.count)
      }
      #expect(try polite.ask(["x": 1]).end.result == ["x": 1])
      for _ in 0..<10_000 where answered < 20_000 {
        #expect(try greedy.line() == #"{"done":{}}"#)
        answered += 1
      }
    }
    await server.close()
  }

  @Test(
    "what is no request is answered with why, and the conversation goes on",
    arguments: ["nonsense", "{\"a\":", "\u{0}", "{\"a\":\"\u{1}\"}", "", String(repeating: "[", count: 10_000)])
  func nonsense(line: String) async throws {
    let server = try await serve()
    let caller = try ControlCaller(path)
    caller.send(line)
    #expect(try caller.line()?.hasPrefix(#"{"error":"the request is not valid JSON"#) == true)
    #expect(try caller.ask(["a": 1]).end.result == ["a": 1])
    await server.close()
  }

  @Test("a request without end is refused, and the conversation ended")
  func endless() async throws {
    let server = try await serve()
    let caller = try ControlCaller(path)
    caller.send([UInt8](repeating: UInt8(ascii: "x"), count: ControlClient.requestLimit + 70_000))
    #expect(try caller.line() == #"{"error":"the request is longer than 1048576 bytes","code":2}"#)
    #expect(try caller.line() == nil)
    await server.close()
  }

  @Test("who asks and closes its sending side gets the whole answer, then the end")
  func halfClosed() async throws {
    let server = try await serve()
    let caller = try ControlCaller(path)
    caller.send(#"{"verb":"count","rows":2000}"#)
    caller.finishSending()
    var rows = 0
    while let line = try caller.line(), line.hasPrefix(#"{"row""#) { rows += 1 }
    #expect(rows == 2_000)
    #expect(try caller.line() == nil)
    await server.close()
  }

  @Test("who does not read its answer makes the producer wait, and nobody else")
  func slowReader() async throws {
    let server = try await serve()
    let slow = try ControlCaller(path)
    slow.send(#"{"verb":"count","rows":5000}"#)
    let other = try ControlCaller(path)
    #expect(try other.ask(["a": 1]).end.result == ["a": 1])
    var last = 5_001
    for _ in 0..<5_000 {
      let row = try JSON(parsing: try #require(try slow.line()))["row"]?["n"]?.intValue
      #expect(row == last - 1)
      last -= 1
    }
    await server.close()
  }

  @Test("idle connections beyond the limit give way; busy ones do not, and who comes then waits for a place")
  func manyConnections() async throws {
    let server = try await serve(limit: 4)
    var idle = try (0..<4).map { _ in try ControlCaller(path) }
    for caller in idle { #expect(try caller.ask([:]).end.result == [:]) }
    let fifth = try ControlCaller(path)
    #expect(try fifth.ask(["a": 5]).end.result == ["a": 5])
    #expect(try idle[0].line() == nil)
    #expect(try idle[1].ask([:]).end.result == [:])
    idle.removeAll()

    let busy = try (0..<4).map { _ in try ControlCaller(path) }
    for caller in busy { caller.send(#"{"verb":"never"}"#) }
    let late = try ControlCaller(path)
    late.send("{}")
    // All places are taken once none of the four is idle; the late one is answered when one of them goes.
    close(dup(busy[0].descriptor))
    shutdown(busy[0].descriptor, Int32(SHUT_RDWR))
    #expect(try late.line() == #"{"done":{}}"#)
    await server.close()
  }

  @Test("who is at the other end is known from the kernel")
  func peer() async throws {
    let socket = try ControlSocket(listeningAt: path)
    let server = await { @LoopActor in
      ControlServer(socket) { _, client in client.finish(["peer": .string(client.peer)]) }
    }()
    let caller = try ControlCaller(path)
    #expect(try caller.ask([:]).end.result?["peer"] == .string("user \(getuid()) (process \(getpid()))"))
    await server.close()
  }

  @Test("closing ends every conversation and removes the socket")
  func closing() async throws {
    let server = try await serve()
    let caller = try ControlCaller(path)
    _ = try caller.ask([:])
    caller.send(#"{"verb":"never"}"#)
    await server.close()
    #expect(try caller.line() == nil)
    #expect(access(path, F_OK) != 0)
    #expect(await server.count == 0)
  }
}
