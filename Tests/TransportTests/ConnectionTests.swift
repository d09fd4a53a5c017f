import EventLoop
import Glibc
import Testing
import XMPPTesting

@testable import Transport

@Suite("Connection in plain text")
struct ConnectionTests {
  init() { LoopThread.start() }

  @Test("what is written arrives, and the answer comes back") @LoopActor
  func exchange() async throws {
    let server = try LoopbackServer { peer in
      let question = peer.read(count: 5)
      peer.write(question + [UInt8]("!".utf8))
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.write([UInt8]("hel".utf8))
    connection.write([UInt8]("lo".utf8))
    #expect(connection.unsentBytes == 5)
    connection.flush()
    #expect(connection.unsentBytes == 0)
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.text == "hello!")
  }

  @Test("a reset is told as a reset") @LoopActor
  func reset() async throws {
    let server = try LoopbackServer { peer in
      _ = peer.read()
      peer.reset()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.write([1])
    connection.flush()
    #expect(await recorder.end() == .reset)
  }

  @Test("what the socket does not take at once follows by itself, in order") @LoopActor
  func largeWrite() async throws {
    let count = 8 << 20
    // The peer reads only when the socket is known to be full.
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (gate, key) = (ends[0], ends[1])
    defer { for end in [gate, key] { Glibc.close(end) } }
    let server = try LoopbackServer { peer in
      var byte: UInt8 = 0
      read(gate, &byte, 1)
      let bytes = peer.read(count: count)
      let isInOrder = bytes.indices.allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: $0 / 1024) }
      peer.write("\(bytes.count) \(isInOrder)")
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    let drained = Box(false)
    connection.onDrain = { drained.value = true }
    for block in 0..<(count / 1024) {
      connection.write([UInt8](repeating: UInt8(truncatingIfNeeded: block), count: 1024))
    }
    connection.flush()
    #expect(connection.unsentBytes > 0)
    #expect(write(key, [1], 1) == 1)
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.text == "\(count) true")
    #expect(drained.value)
  }

  @Test("other work of the loop gets its turn during a flood") @LoopActor
  func flood() async throws {
    let count = 4 << 20
    let server = try LoopbackServer { peer in
      peer.write([UInt8](repeating: 7, count: count))
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    // Each time that bytes come, the loop is asked for a turn; at most a read turn's bytes may come before it is had.
    let before = Box(0)
    let most = Box(0)
    let receive = connection.onReceive
    let asked = Box(false)
    connection.onReceive = { bytes in
      receive(bytes)
      before.value += bytes.count
      most.value = max(most.value, before.value)
      guard !asked.value else { return }
      asked.value = true
      EventLoop.main.post {
        asked.value = false
        before.value = 0
      }
    }
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.bytes.count == count)
    // A turn, the posted rest of it, and one buffer more.
    #expect(most.value <= 2 * Connection.turnLimit + 16 * 1024)
  }

  @Test("nothing is told while reading is paused, and everything afterwards") @LoopActor
  func pause() async throws {
    let server = try LoopbackServer { peer in
      _ = peer.read()
      peer.write("answer")
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.pauseReading()
    connection.write([1])
    connection.flush()
    // The server ends after its answer; the peer's end is seen on the socket although nobody reads.
    let descriptor = Box(false)
    let timer = TimerSource(after: .milliseconds(30)) { descriptor.value = true }
    while !descriptor.value { await nextTurn() }
    timer.cancel()
    #expect(recorder.bytes.isEmpty)
    #expect(recorder.reason == nil)
    connection.resumeReading()
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.text == "answer")
  }

  @Test("close sends what was written, then waits for the peer's end and tells nothing that still arrives") @LoopActor
  func close() async throws {
    let server = try LoopbackServer { peer in
      peer.write("late")
      let bytes = peer.read(count: 1 << 20)
      peer.write("\(bytes.count)")
      _ = peer.read()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.write([UInt8](repeating: 1, count: 1 << 20))
    connection.close()
    #expect(await recorder.end() == .local)
    #expect(recorder.bytes.isEmpty)
  }

  @Test("after abort nothing is told") @LoopActor
  func abort() async throws {
    let server = try LoopbackServer { peer in peer.write("x") }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.abort()
    connection.write([1])
    connection.flush()
    connection.close()
    for _ in 0..<10 { await nextTurn() }
    #expect(recorder.bytes.isEmpty)
    #expect(recorder.reason == nil)
    #expect(connection.unsentBytes == 0)
  }

  @Test("a connection that is let go closes its socket") @LoopActor
  func release() async throws {
    let (ours, theirs) = try socketPair()
    var connection: Connection? = Connection(descriptor: ours)
    connection?.onReceive = { _ in }
    connection = nil
    var byte: UInt8 = 0
    #expect(recv(theirs, &byte, 1, 0) == 0)
    Glibc.close(theirs)
  }

  private func socketPair() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { throw Errno(code: errno) }
    _ = fcntl(pair[0], F_SETFL, O_NONBLOCK)
    return (pair[0], pair[1])
  }
}
