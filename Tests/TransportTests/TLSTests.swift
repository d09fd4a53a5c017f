import COpenSSL
import EventLoop
import Testing
import XMPPTesting

@testable import Transport

@Suite("TLS")
struct TLSTests {
  let authority: TestCertificate

  init() throws {
    LoopThread.start()
    authority = try TestCertificate(commonName: "Test authority", isAuthority: true)
  }

  private func context(pins: [PublicKeyPin] = [], caOf certificate: TestCertificate? = nil) throws -> TLSContext {
    try (certificate ?? authority).withFile { try TLSContext(caFile: $0, pins: pins) }
  }

  /// The outcome of a handshake as "xmpp.test" with a server that shows `certificate`.
  @LoopActor
  private func handshake(
    _ certificate: TestCertificate, _ context: TLSContext, domain: String = "xmpp.test"
  ) async throws -> Result<TLSInfo, TLSError> {
    let server = try LoopbackServer { peer in
      if peer.startTLS(certificate) { _ = peer.read() }
    }
    let connection = try await Connection.toLoopback(server.port)
    let result = await connection.startTLS(context, domain: domain)
    connection.abort()
    return result
  }

  private func leaf(
    _ names: String?, commonName: String = "leaf", issuer: TestCertificate? = nil, from: Int = -1, days: Int = 30,
    usage: String = "serverAuth"
  ) throws -> TestCertificate {
    try TestCertificate(
      commonName: commonName, names: names, issuer: issuer ?? authority, from: from, days: days, usage: usage)
  }

  private func refusal(_ result: Result<TLSInfo, TLSError>) -> CertificateProblem? {
    if case .failure(.certificate(let problem)) = result { problem } else { nil }
  }

  // MARK: - Exchange

  @Test(
    "bytes go both ways, and both sides have the same channel binding", arguments: [TLS1_3_VERSION, TLS1_2_VERSION])
  @LoopActor
  func exchange(_ newest: Int32) async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let server = try LoopbackServer { peer in
      guard peer.startTLS(certificate, alpn: [1], newest: newest) else { return }
      let bytes = peer.read(count: 3)
      peer.write(bytes + [UInt8](" \(peer.serverName ?? "-") ".utf8) + peer.exporter)
      peer.closeNotify()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    let result = await connection.startTLS(try context(), domain: "XMPP.test", alpn: ["xmpp-client"])
    let info = try result.get()
    #expect(info.version == (newest == TLS1_3_VERSION ? "TLSv1.3" : "TLSv1.2"))
    #expect(info.alpn == "xmpp-client")
    #expect(info.certificate.subject == "/CN=leaf")
    #expect(info.certificate.issuer == "/CN=Test authority")
    #expect(info.certificate.publicKey == certificate.pin)
    #expect(info.tlsServerEndPoint?.count == 32)
    connection.write([UInt8]("abc".utf8))
    connection.flush()
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.bytes == [UInt8]("abc xmpp.test ".utf8) + (info.tlsExporter ?? []))
  }

  @Test("a server that knows no ALPN is accepted") @LoopActor
  func noALPN() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let server = try LoopbackServer { peer in
      if peer.startTLS(certificate) { _ = peer.read() }
    }
    let connection = try await Connection.toLoopback(server.port)
    let info = try await connection.startTLS(try context(), domain: "xmpp.test", alpn: ["xmpp-client"]).get()
    #expect(info.alpn == nil)
    connection.abort()
  }

  @Test("what was written during the handshake is sent after it, encrypted") @LoopActor
  func earlyWrite() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let gate = try Gate()
    let server = try LoopbackServer { peer in
      gate.wait()
      guard peer.startTLS(certificate) else { return }
      peer.write(peer.read(count: 5))
      peer.closeNotify()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.startTLS(try context(), domain: "xmpp.test") { _ in }
    connection.write([UInt8]("early".utf8))
    connection.flush()
    #expect(connection.unsentBytes == 5)
    gate.open()
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.text == "early")
  }

  @Test("megabytes go both ways at once") @LoopActor
  func large() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let count = 3 << 20
    let server = try LoopbackServer { peer in
      guard peer.startTLS(certificate) else { return }
      let bytes = peer.read(count: count)
      peer.write(bytes)
      peer.closeNotify()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    _ = try await connection.startTLS(try context(), domain: "xmpp.test").get()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }
    connection.write(bytes)
    connection.flush()
    #expect(await recorder.end() == .peerClosed)
    #expect(recorder.bytes == bytes)
  }

  @Test("the end of TCP without close_notify is told as a truncation") @LoopActor
  func truncation() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let server = try LoopbackServer { peer in
      guard peer.startTLS(certificate) else { return }
      _ = peer.read(count: 1)
      peer.write("<message>")
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    _ = try await connection.startTLS(try context(), domain: "xmpp.test").get()
    connection.write([1])
    connection.flush()
    #expect(await recorder.end() == .truncated)
    #expect(recorder.text == "<message>")
  }

  @Test("close sends close_notify") @LoopActor
  func closeNotify() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let (reports, report) = AsyncStream<Int>.makeStream()
    let server = try LoopbackServer { peer in
      guard peer.startTLS(certificate) else { return }
      let first = peer.read(count: 3)
      report.yield(first.count)
      // Nothing read and no error: the peer's closing record.
      report.yield(peer.read().count)
      report.yield(Int(peer.receivedCloseNotify ? 1 : 0))
      report.finish()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    _ = try await connection.startTLS(try context(), domain: "xmpp.test").get()
    connection.write([1, 2, 3])
    connection.close()
    #expect(await recorder.end() == .local)
    var seen: [Int] = []
    for await value in reports { seen.append(value) }
    #expect(seen == [3, 0, 1])
  }

  // MARK: - Attacks and mistakes

  @Test("plain text sent in place of the handshake is refused and never told") @LoopActor
  func injection() async throws {
    let server = try LoopbackServer { peer in
      _ = peer.read(count: 1)
      peer.write("<proceed/>")
      _ = peer.read()
      peer.write("<message>injected</message>")
      _ = peer.read()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    connection.write([1])
    connection.flush()
    await recorder.until { recorder.text == "<proceed/>" }
    let result = await connection.startTLS(try context(), domain: "xmpp.test")
    #expect(result == .failure(.notTLS))
    #expect(recorder.text == "<proceed/>")
  }

  @Test("bytes behind <proceed/> come with it, where the parser sees them") @LoopActor
  func pipelined() async throws {
    let server = try LoopbackServer { peer in
      peer.write("<proceed/><message>injected</message>")
      _ = peer.read()
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    await recorder.until { recorder.bytes.count >= 37 }
    #expect(recorder.text == "<proceed/><message>injected</message>")
    connection.abort()
  }

  @Test("a server that answers before our request has left is refused") @LoopActor
  func unsent() async throws {
    let server = try LoopbackServer { peer in _ = peer.read() }
    let connection = try await Connection.toLoopback(server.port)
    connection.write([1])
    let result = await connection.startTLS(try context(), domain: "xmpp.test")
    guard case .failure(.misuse) = result else {
      Issue.record("\(result)")
      return
    }
  }

  @Test("a server with TLS 1.1 at most is refused as too old") @LoopActor
  func tooOld() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let server = try LoopbackServer { peer in peer.startTLS(certificate, newest: TLS1_1_VERSION) }
    let connection = try await Connection.toLoopback(server.port)
    #expect(await connection.startTLS(try context(), domain: "xmpp.test") == .failure(.tooOld))
  }

  @Test("a server that hangs up in the handshake is told by the completion alone") @LoopActor
  func hangUp() async throws {
    let server = try LoopbackServer { peer in _ = peer.read(count: 10) }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    let result = await connection.startTLS(try context(), domain: "xmpp.test")
    #expect(result == .failure(.connection(.truncated)) || result == .failure(.connection(.reset)))
    #expect(recorder.reason == nil)
  }

  @Test("garbage after the handshake ends the connection with a TLS error") @LoopActor
  func garbage() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let server = try LoopbackServer { peer in
      guard peer.startTLS(certificate) else { return }
      _ = peer.read(count: 1)
      peer.writeRaw([UInt8](repeating: 0x17, count: 100))
    }
    let connection = try await Connection.toLoopback(server.port)
    let recorder = Recorder(connection)
    _ = try await connection.startTLS(try context(), domain: "xmpp.test").get()
    connection.write([1])
    connection.flush()
    guard case .tls = await recorder.end() else {
      Issue.record("\(String(describing: recorder.reason))")
      return
    }
    #expect(recorder.bytes.isEmpty)
  }

  // MARK: - Certificates

  @Test(
    "names that stand for the domain",
    arguments: [
      "DNS:xmpp.test", "DNS:other.test,DNS:XMPP.TEST", "otherName:1.3.6.1.5.5.7.8.7;IA5STRING:_xmpp-client.xmpp.test",
      "otherName:1.3.6.1.5.5.7.8.5;UTF8:xmpp.test",
    ])
  @LoopActor
  func goodNames(_ names: String) async throws {
    _ = try await handshake(leaf(names), context()).get()
  }

  @Test("a wildcard stands for one label") @LoopActor
  func wildcard() async throws {
    _ = try await handshake(leaf("DNS:*.xmpp.test"), context(), domain: "im.xmpp.test").get()
  }

  @Test("an IP address as domain is compared with the certificate's addresses") @LoopActor
  func addresses() async throws {
    let certificate = try leaf("IP:127.0.0.1")
    _ = try await handshake(certificate, context(), domain: "127.0.0.1").get()
    let other = refusal(try await handshake(certificate, context(), domain: "127.0.0.2"))
    #expect(other == .wrongName(domain: "127.0.0.2", names: ["127.0.0.1"]))
  }

  @Test(
    "names that do not",
    arguments: [
      "DNS:other.test", "DNS:*.xmpp.test", "DNS:*.test", "otherName:1.3.6.1.5.5.7.8.7;IA5STRING:_xmpp-server.xmpp.test",
      "otherName:1.3.6.1.5.5.7.8.5;UTF8:xmpp.test.evil", "email:xmpp.test@xmpp.test", "URI:xmpp:xmpp.test",
    ])
  @LoopActor
  func wrongNames(_ names: String) async throws {
    guard case .wrongName(domain: "xmpp.test", _) = refusal(try await handshake(leaf(names), context())) else {
      Issue.record("accepted or otherwise refused")
      return
    }
  }

  @Test("the common name stands for nothing") @LoopActor
  func commonName() async throws {
    let problem = refusal(try await handshake(leaf(nil, commonName: "xmpp.test"), context()))
    #expect(problem == .wrongName(domain: "xmpp.test", names: []))
  }

  @Test("an expired certificate is refused, with its date") @LoopActor
  func expired() async throws {
    let problem = refusal(try await handshake(leaf("DNS:xmpp.test", from: -9, days: -2), context()))
    guard case .expired(subject: "/CN=leaf", let date) = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
    #expect(date.hasSuffix(" UTC"))
  }

  @Test("a certificate of tomorrow is refused") @LoopActor
  func notYetValid() async throws {
    guard case .notYetValid = refusal(try await handshake(leaf("DNS:xmpp.test", from: 2), context())) else {
      Issue.record("accepted or otherwise refused")
      return
    }
  }

  @Test("a certificate for clients only is refused") @LoopActor
  func wrongUsage() async throws {
    let problem = refusal(try await handshake(leaf("DNS:xmpp.test", usage: "clientAuth"), context()))
    guard case .other = problem else {
      Issue.record("\(String(describing: problem))")
      return
    }
  }

  @Test("an unknown authority is refused, by name and with the server's key; ca-file is used instead of the system's")
  @LoopActor
  func unknownAuthority() async throws {
    let stranger = try TestCertificate(commonName: "Stranger", isAuthority: true)
    let certificate = try leaf("DNS:xmpp.test", issuer: stranger)
    let problem = refusal(try await handshake(certificate, context()))
    // The server is on this machine: there is nobody between who could have shown a key of their own.
    #expect(problem == .unknownAuthority(issuer: "/CN=Stranger", key: certificate.pin, isLocal: true))
    #expect(problem?.description.contains("This machine itself showed it") == true)
    #expect(problem?.description.hasSuffix("public-key-pin = \(certificate.pin)") == true)
    let distant = CertificateProblem.unknownAuthority(issuer: "/CN=Stranger", key: certificate.pin).description
    #expect(
      distant.contains("public-key-pin = \(certificate.pin), if on the server this prints the same: openssl x509 -in"))
    #expect(refusal(try await handshake(certificate, try TLSContext())) == problem)
    _ = try await handshake(certificate, context(caOf: stranger)).get()
  }

  @Test("a chain with an intermediate authority is accepted") @LoopActor
  func intermediate() async throws {
    let middle = try TestCertificate(commonName: "Middle", issuer: authority, isAuthority: true)
    _ = try await handshake(leaf("DNS:xmpp.test", issuer: middle), context()).get()
  }

  @Test("an authority whose names are limited vouches for DNS names only") @LoopActor
  func nameConstraints() async throws {
    let limited = try TestCertificate(
      commonName: "Limited", issuer: authority, isAuthority: true, nameConstraints: "permitted;DNS:other.test")
    let smuggled = "DNS:other.test,otherName:1.3.6.1.5.5.7.8.7;IA5STRING:_xmpp-client.xmpp.test"
    guard case .wrongName = refusal(try await handshake(leaf(smuggled, issuer: limited), context())) else {
      Issue.record("accepted or otherwise refused")
      return
    }
    _ = try await handshake(leaf("DNS:other.test", issuer: limited), context(), domain: "other.test").get()
  }

  @Test("a file that holds no certificates is refused as ca-file, by name")
  func badFile() throws {
    let path = "/nonexistent/ca.pem"
    #expect { try TLSContext(caFile: path) } throws: { error in "\(error)".contains(path) }
    #expect(throws: TLSError.self) { try TLSContext(caFile: "/dev/null") }
  }

  // MARK: - Pins

  @Test("a pinned key of the server is accepted from an unknown authority, and self-signed") @LoopActor
  func pinnedLeaf() async throws {
    let selfSigned = try TestCertificate(commonName: "self", names: "DNS:xmpp.test")
    _ = try await handshake(selfSigned, TLSContext(pins: [selfSigned.pin])).get()
    let stranger = try TestCertificate(commonName: "Stranger", isAuthority: true)
    let certificate = try leaf("DNS:xmpp.test", issuer: stranger)
    _ = try await handshake(certificate, TLSContext(pins: [certificate.pin])).get()
  }

  @Test("a pin outlives renewal with the same key") @LoopActor
  func renewal() async throws {
    let old = try TestCertificate(commonName: "self", names: "DNS:xmpp.test")
    let new = try TestCertificate(commonName: "self", names: "DNS:xmpp.test", days: 300, key: old)
    _ = try await handshake(new, TLSContext(pins: [old.pin])).get()
  }

  @Test("a pinned key does not excuse a wrong name or a date that has passed") @LoopActor
  func pinnedButWrong() async throws {
    let misnamed = try TestCertificate(commonName: "self", names: "DNS:other.test")
    #expect(
      refusal(try await handshake(misnamed, TLSContext(pins: [misnamed.pin])))
        == .wrongName(domain: "xmpp.test", names: ["other.test"]))
    let expired = try TestCertificate(commonName: "self", names: "DNS:xmpp.test", from: -9, days: -2)
    guard case .expired = refusal(try await handshake(expired, TLSContext(pins: [expired.pin]))) else {
      Issue.record("accepted or otherwise refused")
      return
    }
  }

  @Test("a key that is not pinned is refused from a known and from an unknown authority, with its pin") @LoopActor
  func pinMismatch() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    let other = try TestCertificate(commonName: "other").pin
    #expect(refusal(try await handshake(certificate, context(pins: [other]))) == .pinMismatch(key: certificate.pin))
    #expect(refusal(try await handshake(certificate, TLSContext(pins: [other]))) == .pinMismatch(key: certificate.pin))
  }

  @Test("the pin of an authority accepts its certificates only where the authority is trusted") @LoopActor
  func pinnedAuthority() async throws {
    let certificate = try leaf("DNS:xmpp.test")
    _ = try await handshake(certificate, context(pins: [authority.pin])).get()
    #expect(
      refusal(try await handshake(certificate, TLSContext(pins: [authority.pin]))) == .pinMismatch(key: certificate.pin)
    )
  }
}
