import Testing

@testable import Transport

@Suite("Service identity")
struct ServiceIdentityTests {
  private func dns(_ text: String) -> CertificateName { .dns([UInt8](text.utf8)) }
  private func srv(_ text: String) -> CertificateName { .srv([UInt8](text.utf8)) }
  private func xmpp(_ text: String) -> CertificateName { .xmppAddress([UInt8](text.utf8)) }

  private func matches(_ domain: String, _ name: CertificateName) throws -> Bool {
    try #require(ServiceIdentity(domain: domain)).matches([name])
  }

  @Test("a DNS name matches exactly, without regard to case")
  func exact() throws {
    #expect(try matches("example.org", dns("example.org")))
    #expect(try matches("Example.ORG", dns("eXample.org")))
    #expect(try matches("example.org.", dns("example.org")))
    for other in ["example.com", "www.example.org", "xample.org", "example.org.evil", "", "org", "example.org."] {
      #expect(try !matches("example.org", dns(other)), "\(other)")
    }
  }

  @Test("a wildcard is the whole left-most label, for one label, with two labels behind it")
  func wildcards() throws {
    #expect(try matches("im.example.org", dns("*.example.org")))
    #expect(try matches("im.example.org", dns("*.EXAMPLE.org")))
    for (domain, pattern) in [
      ("example.org", "*.example.org"), ("a.b.example.org", "*.example.org"), ("im.example.org", "i*.example.org"),
      ("im.example.org", "*m.example.org"), ("im.example.org", "im.*.org"), ("im.example.org", "*.*.org"),
      ("example.org", "*.org"), ("example.org", "*"), ("im.example.org", "*example.org"),
      ("im.example.org", "**.example.org"),
      ("im.example.org", "*."), ("im.example.org", "*.example.org."),
    ] {
      #expect(try !matches(domain, dns(pattern)), "\(domain) \(pattern)")
    }
  }

  @Test("a name with NUL, a blank or a byte beyond ASCII matches nothing")
  func hostileBytes() throws {
    for name in [
      "example.org\0.evil.net", "example.org\0", "\0example.org", "example.org ", " example.org", "exämple.org",
    ] {
      #expect(try !matches("example.org", dns(name)), "\(name)")
      #expect(try !matches("example.org", xmpp(name)), "\(name)")
      #expect(try !matches("example.org", srv("_xmpp-client." + name)), "\(name)")
    }
    #expect(try !matches("im.example.org", dns("*.example.org\0")))
    #expect(try !matches("exämple.org", dns("exämple.org")))
  }

  @Test("an internationalised domain matches its A-label")
  func internationalised() throws {
    #expect(try matches("bücher.example", dns("xn--bcher-kva.example")))
    #expect(try matches("xn--bcher-kva.example", dns("XN--BCHER-KVA.example")))
    #expect(ServiceIdentity(domain: "bücher.example")?.serverName == "xn--bcher-kva.example")
  }

  @Test("an SRV name is for the XMPP client service only, without wildcards")
  func srvNames() throws {
    #expect(try matches("example.org", srv("_xmpp-client.example.org")))
    #expect(try matches("example.org", srv("_XMPP-Client.Example.org")))
    for name in [
      "_xmpp-server.example.org", "_xmpp-client.example.com", "xmpp-client.example.org", "_xmpp-client.*.org",
      "_xmpp-client.", "_xmpp-client", "example.org",
    ] {
      #expect(try !matches("example.org", srv(name)), "\(name)")
    }
    #expect(try !matches("im.example.org", srv("_xmpp-client.*.example.org")))
  }

  @Test("an XMPP address has to be the domain itself")
  func xmppAddresses() throws {
    #expect(try matches("example.org", xmpp("example.org")))
    for name in ["bot@example.org", "example.org/resource", "*.example.org", "*"] {
      #expect(try !matches("example.org", xmpp(name)), "\(name)")
    }
  }

  @Test("with constrained authorities only DNS names count")
  func onlyDNS() throws {
    let identity = try #require(ServiceIdentity(domain: "example.org"))
    #expect(!identity.matches([srv("_xmpp-client.example.org"), xmpp("example.org")], onlyDNS: true))
    #expect(identity.matches([dns("example.org")], onlyDNS: true))
  }

  @Test("an address as domain matches address entries only, and is not sent as server name")
  func addresses() throws {
    for (domain, bytes) in [
      ("192.0.2.1", [192, 0, 2, 1]), ("[2001:db8::1]", [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ] as [(String, [UInt8])] {
      #expect(try matches(domain, .ip(bytes)))
      #expect(try !matches(domain, .ip(Array(bytes.reversed()))))
      #expect(try !matches(domain, .ip([])))
      #expect(try !matches(domain, dns(domain)))
      #expect(ServiceIdentity(domain: domain)?.serverName == nil)
    }
    #expect(try !matches("example.org", .ip([192, 0, 2, 1])))
  }

  @Test("what is no domain has no identity", arguments: ["", ".", "a..b", "a b", "a\0b", "-\u{7}", "a/b", "a@b"])
  func noDomain(_ text: String) {
    #expect(ServiceIdentity(domain: text) == nil)
  }

  @Test("no random name but the domain itself matches")
  func random() throws {
    var random = SeededRandom()
    let identity = try #require(ServiceIdentity(domain: "a.b.c"))
    let letters = [UInt8]("abc.*A\0".utf8)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...7, using: &random)).compactMap { _ in letters.randomElement(using: &random) }
      let text = String(decoding: bytes, as: UTF8.self).lowercased()
      #expect(identity.matches([.dns(bytes)]) == (text == "a.b.c" || text == "*.b.c"), "\(bytes)")
    }
  }
}
