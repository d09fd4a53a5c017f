import EventLoop
import Glibc
import Testing
import XMPPTesting

@testable import Transport

@Suite("Connector and resolver")
struct ConnectorTests {
  init() { LoopThread.start() }

  private static let starttls = TestDNS.Question(name: "_xmpp-client._tcp.x.test", type: 33)
  private static let direct = TestDNS.Question(name: "_xmpps-client._tcp.x.test", type: 33)
  private static let loopback: TestDNS.Reply = .records([.a([127, 0, 0, 1])])

  /// A server that waits for its client to go.
  private func quietServer() throws -> LoopbackServer { try LoopbackServer { _ = $0.read() } }

  /// A port of 127.0.0.1 where nobody listens.
  private func closedPort() throws -> UInt16 {
    let (descriptor, port) = try LoopbackServer.bound(SOCK_STREAM)
    close(descriptor)
    return port
  }

  /// Runs one attempt and gives the endpoint that was reached, or the error, as text.
  @LoopActor
  private func connect(_ dns: TestDNS, _ request: ConnectionRequest = ConnectionRequest(domain: "x.test")) async
    -> String
  {
    let connector = Connector(resolver: Resolver(servers: dns.server))
    switch await connector.connect(request) {
    case .success((let connection, let endpoint)):
      connection.abort()
      return endpoint.description
    case .failure(let error): return "\(error)"
    }
  }

  @Test("SRV leads to a server, whose name is looked up") @LoopActor
  func srv() async throws {
    let server = try quietServer()
    let port = server.port
    let dns = try TestDNS { question in
      switch question {
      case Self.starttls: .records([.srv(priority: 1, weight: 1, port: port, target: "im.x.test")])
      case .init(name: "im.x.test", type: 1): Self.loopback
      default: .code(3)
      }
    }
    #expect(await connect(dns) == "im.x.test:\(port) (STARTTLS)")
  }

  @Test("direct TLS of better priority is taken first") @LoopActor
  func directFirst() async throws {
    let server = try quietServer()
    let port = server.port
    let closed = try closedPort()
    let dns = try TestDNS { question in
      switch question {
      case Self.starttls: .records([.srv(priority: 5, weight: 1, port: closed, target: "im.x.test")])
      case Self.direct: .records([.srv(priority: 1, weight: 1, port: port, target: "im.x.test")])
      case .init(name: "im.x.test", type: 1): Self.loopback
      default: .code(3)
      }
    }
    #expect(await connect(dns) == "im.x.test:\(port) (direct TLS)")
  }

  @Test("a server that refuses, or whose name leads nowhere, is followed by the next") @LoopActor
  func nextTarget() async throws {
    let server = try quietServer()
    let port = server.port
    let closed = try closedPort()
    let dns = try TestDNS { question in
      switch question {
      case Self.starttls:
        .records([
          .srv(priority: 3, weight: 1, port: port, target: "c.x.test"),
          .srv(priority: 1, weight: 1, port: port, target: "a.x.test"),
          .srv(priority: 2, weight: 1, port: closed, target: "b.x.test"),
        ])
      case .init(name: "b.x.test", type: 1), .init(name: "c.x.test", type: 1): Self.loopback
      default: .code(3)
      }
    }
    #expect(await connect(dns) == "c.x.test:\(port) (STARTTLS)")
  }

  @Test("connectNext goes on behind the server that was reached, and ends with all failures") @LoopActor
  func connectNext() async throws {
    let first = try quietServer()
    let second = try quietServer()
    let (port, other) = (first.port, second.port)
    let dns = try TestDNS { question in
      switch question {
      case Self.starttls:
        .records([
          .srv(priority: 1, weight: 1, port: port, target: "a.x.test"),
          .srv(priority: 2, weight: 1, port: other, target: "b.x.test"),
        ])
      case .init(name: "a.x.test", type: 1), .init(name: "b.x.test", type: 1): Self.loopback
      default: .code(3)
      }
    }
    let connector = Connector(resolver: Resolver(servers: dns.server))
    let (one, endpoint) = try await connector.connect(ConnectionRequest(domain: "x.test")).get()
    #expect(endpoint.port == port)
    #expect(connector.hasNext)
    let (two, next) = try await connector.connectNext().get()
    #expect(next.port == other)
    #expect(!connector.hasNext)
    guard case .failure(.unreachable(domain: "x.test", _)) = await connector.connectNext() else {
      Issue.record("a third server")
      return
    }
    one.abort()
    two.abort()
  }

  @Test("without SRV records the domain itself is dialled; every failure is in the error") @LoopActor
  func fallback() async throws {
    let dns = try TestDNS { question in
      question == .init(name: "x.test", type: 1) ? .records([.a([127, 9, 9, 9])]) : .code(3)
    }
    // Nobody listens on 127.9.9.9: on loopback that is refused at once.
    let text = await connect(dns)
    #expect(text.contains("x.test:5222 (STARTTLS): 127.9.9.9 Connection refused"), "\(text)")
  }

  @Test("a domain that offers no XMPP is told as that") @LoopActor
  func notOffered() async throws {
    let dns = try TestDNS { question in
      question.type == 33 ? .records([.srv(priority: 0, weight: 0, port: 0, target: "")]) : Self.loopback
    }
    let connector = Connector(resolver: Resolver(servers: dns.server))
    guard case .failure(.notOffered(domain: "x.test")) = await connector.connect(ConnectionRequest(domain: "x.test"))
    else {
      Issue.record("otherwise")
      return
    }
  }

  @Test(
    "broken and refused answers are DNS errors with the name that was asked for",
    arguments: [
      .code(2), .code(5), .raw([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 1, 120, 0xff]),
      .raw([UInt8](repeating: 0xff, count: 300)), .raw([]),
      .cut([.srv(priority: 1, weight: 1, port: 1, target: "im.x.test")], 60),
    ] as [TestDNS.Reply])
  @LoopActor
  func brokenAnswers(_ reply: TestDNS.Reply) async throws {
    let dns = try TestDNS { question in question.type == 33 ? reply : Self.loopback }
    let connector = Connector(resolver: Resolver(servers: dns.server, timeout: .milliseconds(100)))
    let result = await connector.connect(ConnectionRequest(domain: "x.test"))
    guard case .failure(.lookup(let error)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(error.name == "_xmpp-client._tcp.x.test")
  }

  @Test("an answer to another question is not believed") @LoopActor
  func otherQuestion() async throws {
    let dns = try TestDNS { question in question.type == 33 ? .otherQuestion : Self.loopback }
    let connector = Connector(resolver: Resolver(servers: dns.server))
    let result = await connector.connect(ConnectionRequest(domain: "x.test"), deadline: .milliseconds(200))
    guard case .failure(.deadline(domain: "x.test", _)) = result else {
      Issue.record("\(result)")
      return
    }
  }

  @Test("silence of DNS ends with the deadline") @LoopActor
  func silence() async throws {
    let dns = try TestDNS { _ in .silence }
    let connector = Connector(resolver: Resolver(servers: dns.server))
    let result = await connector.connect(ConnectionRequest(domain: "x.test"), deadline: .milliseconds(50))
    guard case .failure(.deadline(domain: "x.test", let failures)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(failures.isEmpty)
  }

  @Test("a time-out in one family does not keep the other from connecting") @LoopActor
  func oneFamily() async throws {
    let server = try quietServer()
    let dns = try TestDNS { question in question.type == 28 ? .silence : Self.loopback }
    let request = ConnectionRequest(domain: "x.test", host: "im.x.test", port: server.port)
    #expect(await connect(dns, request) == "im.x.test:\(server.port) (STARTTLS)")
  }

  @Test("IPv6 that cannot be reached is followed by IPv4") @LoopActor
  func familyFallback() async throws {
    let server = try quietServer()
    let dns = try TestDNS { question in
      // The discard prefix (RFC 6666): no route, or no answer.
      question.type == 28 ? .records([.aaaa([1] + [UInt8](repeating: 0, count: 14) + [1])]) : Self.loopback
    }
    let request = ConnectionRequest(domain: "x.test", host: "im.x.test", port: server.port)
    #expect(await connect(dns, request) == "im.x.test:\(server.port) (STARTTLS)")
  }

  @Test(
    "a host given by the operator is used without SRV, also localhost and addresses",
    arguments: ["localhost", "127.0.0.1"])
  @LoopActor
  func host(_ host: String) async throws {
    let server = try quietServer()
    let dns = try TestDNS { question in
      question.type == 33 ? .records([.srv(priority: 0, weight: 0, port: 1, target: "wrong.test")]) : .code(3)
    }
    #expect(
      await connect(dns, ConnectionRequest(domain: "x.test", host: host, port: server.port))
        == "\(host):\(server.port) (STARTTLS)")
  }

  @Test("what is no name is refused before any question", arguments: ["a b", "", "a..b", "-", "a\0b"])
  @LoopActor
  func noName(_ text: String) async throws {
    let connector = Connector(resolver: Resolver(servers: "127.0.0.1:1"))
    for request in [ConnectionRequest(domain: text), ConnectionRequest(domain: "x.test", host: text)] where text != "-"
    {
      guard case .failure(.notAName(text)) = await connector.connect(request) else {
        Issue.record("accepted")
        return
      }
    }
  }

  @Test("/etc/hosts is asked without DNS") @LoopActor
  func hostsFile() throws {
    let channel = try DNSChannel(Resolver(servers: "127.0.0.1:1"), search: false)
    defer { channel.cancel() }
    #expect(channel.isInHostsFile("localhost"))
    #expect(!channel.isInHostsFile("nobody-has-this-name.test"))
  }

  @Test("after cancel nothing is told") @LoopActor
  func cancel() async throws {
    let server = try quietServer()
    let dns = try TestDNS { _ in Self.loopback }
    let connector = Connector(resolver: Resolver(servers: dns.server))
    let told = Box(0)
    for request in [
      ConnectionRequest(domain: "x.test"), ConnectionRequest(domain: "x.test", host: "127.0.0.1", port: server.port),
      ConnectionRequest(domain: "a b"),
    ] {
      connector.connect(request, deadline: .seconds(5)) { _ in told.value += 1 }
      connector.cancel()
    }
    // A second attempt takes the first one's place.
    connector.connect(ConnectionRequest(domain: "x.test"), deadline: .seconds(5)) { _ in told.value += 1 }
    let result = await connector.connect(ConnectionRequest(domain: "x.test", host: "127.0.0.1", port: server.port))
    try result.get().0.abort()
    for _ in 0..<10 { await nextTurn() }
    #expect(told.value == 0)
  }
}
