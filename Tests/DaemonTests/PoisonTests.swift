import EventLoop
import JID
import Testing
import XML
import XMPPStanzas
import XMPPTesting

@testable import Daemon

@Suite("A message over which the server ends the stream each time, where no session can be resumed")
struct PoisonTests {
  init() { LoopThread.start() }

  /// Handles what the bot sends in order, and answers its pings, until it says "evil" or nothing more. What was said.
  @LoopActor private func serve(_ bench: DaemonBench) async throws -> [String] {
    var heard: [String] = []
    while true {
      await bench.settle()
      let stream = try #require(bench.dialer.stream)
      let elements = try Self.elements(stream.written)
      stream.written = []
      if elements.isEmpty { return heard }
      for element in elements {
        if let body = element.child("body", Namespace.client)?.text {
          heard.append(body)
          if body == "evil" {
            try bench.play("server: </stream:stream>\nthe connection is lost")
            return heard
          }
        } else if element.child("ping", Namespace.ping) != nil, let id = element["id"] {
          stream.deliver("<iq type='result' id='\(id)' from='example.org'/>")
        }
      }
    }
  }

  private static func elements(_ bytes: [UInt8]) throws -> [Element] {
    var elements: [Element] = []
    let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
    try (Array(header.utf8) + bytes).withUnsafeBytes { buffer in
      try StreamParser().parse(buffer) { event in if case .element(let element) = event { elements.append(element) } }
    }
    return elements
  }

  @Test("it is found among the others, and set aside; the others arrive, in order")
  @LoopActor func found() async throws {
    let bench = try await DaemonBench()
    let alice = try JID("alice@example.net")
    for text in ["good", "evil", "better", "best"] { bench.daemon.flow.outbox.send(text, to: alice) }
    await bench.settle()
    var streams: [[String]] = []
    repeat {
      try bench.goOnline()
      streams.append(try await serve(bench))
      if streams.last?.last == "evil" { try bench.play("after 60s") }
    } while streams.last?.last == "evil" && streams.count < 10
    // Twice with all at once; then the server has "good" before it gets the next, and three times that is "evil" alone.
    let expected = [["good", "evil"], ["good", "evil"], ["good", "evil"], ["evil"], ["evil"], ["better", "best"]]
    #expect(streams == expected)
    bench.daemon.flow.outbox.flush()
    let rows = try await bench.transcript()
    #expect(rows == ["> good (acked)", "> evil (failed)", "> better (acked)", "> best (acked)"])
    #expect(bench.recording.messages(.stanzaSetAside).contains { $0.contains("the stream died 3 times") })
  }

  @Test("a line that is cut again and again before the server has answered a word condemns none of them")
  @LoopActor func innocent() async throws {
    let bench = try await DaemonBench()
    let alice = try JID("alice@example.net")
    for text in ["one", "two", "three"] { bench.daemon.flow.outbox.send(text, to: alice) }
    await bench.settle()
    for _ in 1...6 {
      try bench.logIn()
      await bench.settle()
      try bench.play("the connection is lost\nafter 60s")
    }
    try bench.goOnline()
    let heard = try await serve(bench)
    #expect(heard == ["one", "two", "three"])
    bench.daemon.flow.outbox.flush()
    let rows = try await bench.transcript()
    #expect(rows == ["> one (acked)", "> two (acked)", "> three (acked)"])
  }
}
