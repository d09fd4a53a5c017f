import Testing

@testable import Transport

@Suite("Endpoints, addresses, names and pins")
struct ValueTests {
  @Test("a host or port that the operator names switches SRV off, and the port tells the kind of TLS")
  func fixedEndpoint() {
    func endpoint(_ host: String?, _ port: UInt16?, _ mode: TLSMode, domain: String = "x.test") -> String? {
      ConnectionRequest(domain: domain, host: host, port: port, mode: mode).fixedEndpoint?.description
    }
    #expect(endpoint(nil, nil, .auto) == nil)
    #expect(endpoint(nil, nil, .direct) == nil)
    #expect(endpoint("h.test", nil, .auto) == "h.test:5222 (STARTTLS)")
    #expect(endpoint("h.test", nil, .starttls) == "h.test:5222 (STARTTLS)")
    #expect(endpoint("h.test", nil, .direct) == "h.test:5223 (direct TLS)")
    #expect(endpoint("h.test", 5223, .auto) == "h.test:5223 (direct TLS)")
    #expect(endpoint("h.test", 443, .auto) == "h.test:443 (direct TLS)")
    #expect(endpoint("h.test", 15222, .auto) == "h.test:15222 (STARTTLS)")
    #expect(endpoint("h.test", 443, .starttls) == "h.test:443 (STARTTLS)")
    #expect(endpoint(nil, 15222, .auto) == "x.test:15222 (STARTTLS)")
    #expect(endpoint(nil, nil, .auto, domain: "192.0.2.1") == "192.0.2.1:5222 (STARTTLS)")
    #expect(endpoint("2001:db8::1", nil, .auto) == "[2001:db8::1]:5222 (STARTTLS)")
  }

  @Test("addresses are read and written in their usual form")
  func addresses() throws {
    for (text, written) in [
      ("192.0.2.1", "192.0.2.1"), ("::1", "::1"), ("[::1]", "::1"), ("2001:DB8:0:0::1", "2001:db8::1"),
      ("fe80::1%1", "fe80::1%1"),
    ] {
      #expect(IPAddress(text)?.description == written)
    }
    for text in ["", "localhost", "1.2.3", "1.2.3.4.5", "256.0.0.1", "::g", "[::1", "fe80::1%", "1.2.3.4%1", "0x7f.1"] {
      #expect(IPAddress(text) == nil, "\(text)")
    }
    let address = try #require(IPAddress("fe80::1%1"))
    #expect(address.withSocketAddress(port: 5222) { pointer, _ in IPAddress(pointer) } == address)
  }

  @Test("names become lower-case A-labels, or are refused")
  func names() {
    #expect(DomainName.ascii("Example.ORG.") == "example.org")
    #expect(DomainName.ascii("Bücher.example") == "xn--bcher-kva.example")
    #expect(DomainName.ascii("_xmpp-client._tcp.x") == "_xmpp-client._tcp.x")
    #expect(DomainName.ascii("faß.example") == "xn--fa-hia.example")
    let long = String(repeating: "abcdefg.", count: 32)
    for text in [
      "", ".", "..", "a..b", ".a", "a b", "a\0b", "a/b", "a@b", "*.a", long, String(repeating: "a", count: 64),
    ] {
      #expect(DomainName.ascii(text) == nil, "\(text)")
    }
  }

  @Test("a pin is read in its one form only")
  func pins() {
    let text = "sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    #expect(PublicKeyPin(text)?.description == text)
    #expect(PublicKeyPin(text)?.digest.prefix(3) == [0xe3, 0xb0, 0xc4])
    for text in [
      "", "sha256:", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "sha1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=",
      "sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF==", "sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
      "sha256:" + String(repeating: " ", count: 43) + "=", text + "=",
      "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    ] {
      #expect(PublicKeyPin(text) == nil, "\(text)")
    }
  }

  @Test("output leaves in the order it came, however it is cut")
  func outputBuffer() {
    var random = SeededRandom()
    var buffer = OutputBuffer()
    var written: [UInt8] = []
    var sent: [UInt8] = []
    for _ in 0..<3_000 {
      if Bool.random(using: &random) {
        let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes.withUnsafeBytes { buffer.append($0) }
        written += bytes
      } else if !buffer.isEmpty {
        let count = Int.random(in: 1...min(buffer.count, 250), using: &random)
        buffer.withUnsent { sent += $0.prefix(count) }
        buffer.consume(count)
      }
      #expect(buffer.count == written.count - sent.count)
    }
    buffer.withUnsent { sent += $0 }
    #expect(sent == written)
  }
}
