import Testing

@testable import Transport

@Suite("SRV records")
struct SRVTests {
  private func record(
    _ target: String, priority: UInt16 = 0, weight: UInt16 = 0, port: UInt16 = 5222, _ security: Security = .starttls
  ) -> ServiceRecord {
    ServiceRecord(priority: priority, weight: weight, port: port, target: target, security: security)
  }

  private func plan(
    _ starttls: ServiceLookup, _ direct: ServiceLookup, isInHosts: Bool = false
  ) throws(ConnectError) -> [String] {
    var random = SystemRandomNumberGenerator()
    return try ServicePlan.endpoints(
      domain: "x.test", starttls: starttls, direct: direct, isInHosts: isInHosts, using: &random
    )
    .map(\.description)
  }

  // MARK: - Order

  @Test("each record comes once, priorities ascending")
  func permutation() {
    var random = SeededRandom()
    for _ in 0..<500 {
      let records = (0..<Int.random(in: 0...12, using: &random)).map {
        record(
          "host\($0).test", priority: .random(in: 0...3, using: &random), weight: .random(in: 0...3, using: &random))
      }
      let ordered = SRVOrder.order(records, limit: 100, using: &random)
      #expect(Set(ordered) == Set(records))
      #expect(ordered.count == records.count)
      #expect(ordered.map(\.priority) == ordered.map(\.priority).sorted())
    }
  }

  @Test("the first place is drawn in proportion to the weights, and weight 0 seldom wins")
  func weights() {
    var random = SeededRandom(seed: 11)
    let records = [record("a", weight: 10), record("b", weight: 30), record("c", weight: 60), record("z", weight: 0)]
    var wins: [String: Int] = [:]
    for _ in 0..<10_000 {
      let first = SRVOrder.order(records, limit: 4, using: &random)[0]
      wins[first.target, default: 0] += 1
    }
    #expect((800...1200).contains(wins["a", default: 0]))
    #expect((2700...3300).contains(wins["b", default: 0]))
    #expect((5600...6400).contains(wins["c", default: 0]))
    #expect((20...300).contains(wins["z", default: 0]))
  }

  @Test("of a thousand records the best 32 are tried")
  func limit() throws {
    var random = SeededRandom()
    let records = (0..<1000).map { record("host\($0).test", priority: UInt16(1000 - $0), weight: 65535) }
    let endpoints = try ServicePlan.endpoints(
      domain: "x.test", starttls: .records(records), direct: .none, using: &random)
    #expect(endpoints.map(\.host) == (968..<1000).reversed().map { "host\($0).test" })
  }

  // MARK: - Plan

  @Test("both kinds of service are one list by priority")
  func merged() throws {
    let result = try plan(
      .records([record("one.test", priority: 5), record("Three.test.", priority: 9)]),
      .records([record("two.test", priority: 7, port: 443, .direct)]))
    #expect(result == ["one.test:5222 (STARTTLS)", "two.test:443 (direct TLS)", "three.test:5222 (STARTTLS)"])
  }

  @Test("without records the domain itself is the server")
  func fallback() throws {
    #expect(try plan(.none, .none) == ["x.test:5222 (STARTTLS)"])
    #expect(try plan(.none, .notAsked) == ["x.test:5222 (STARTTLS)"])
    #expect(try plan(.notAsked, .none) == ["x.test:5223 (direct TLS)"])
  }

  @Test("a target of \".\" says that the service is not offered")
  func notOffered() throws {
    let none = ServiceLookup.records([record(".", port: 0)])
    #expect(throws: ConnectError.notOffered(domain: "x.test")) { try plan(none, none) }
    #expect(throws: ConnectError.notOffered(domain: "x.test")) { try plan(none, .none) }
    #expect(throws: ConnectError.notOffered(domain: "x.test")) { try plan(.notAsked, none) }
    #expect(try plan(none, .records([record("d.test", port: 5223, .direct)])) == ["d.test:5223 (direct TLS)"])
    // Direct TLS alone is not offered: STARTTLS is looked for at the domain, as if it had not been asked for.
    #expect(try plan(.none, none) == ["x.test:5222 (STARTTLS)"])
  }

  @Test("records that lead nowhere are passed over, and named when there are no others")
  func lies() throws {
    let bad = [
      record("p.test", port: 0), record("a b.test"), record("a..test"),
      record(String(repeating: "a", count: 64) + ".test"),
      record(String(repeating: "a.", count: 200) + "test"), record("nul\0.test"),
    ]
    #expect(try plan(.records(bad + [record("good.test")]), .none) == ["good.test:5222 (STARTTLS)"])
    #expect(throws: ConnectError.lookup(DNSError(name: "_xmpp-client._tcp.x.test", kind: .uselessRecords))) {
      try plan(.records(bad), .none)
    }
  }

  @Test("a failed lookup is an error, unless the other one gave servers")
  func failures() throws {
    let error = DNSError(name: "_xmpp-client._tcp.x.test", kind: .timedOut)
    let direct = ServiceLookup.records([record("d.test", port: 5223, .direct)])
    #expect(throws: ConnectError.lookup(error)) { try plan(.failed(error), .none) }
    #expect(throws: ConnectError.lookup(error)) { try plan(.failed(error), .failed(error)) }
    #expect(try plan(.failed(error), direct) == ["d.test:5223 (direct TLS)"])
    #expect(try plan(.none, .failed(error)) == ["x.test:5222 (STARTTLS)"])
  }

  @Test("where no DNS server says anything, a domain that /etc/hosts knows is the server itself")
  func hosts() throws {
    for kind in [DNSError.Kind.timedOut, .noServer] {
      let silence = ServiceLookup.failed(DNSError(name: "_xmpp-client._tcp.x.test", kind: kind))
      #expect(try plan(silence, silence, isInHosts: true) == ["x.test:5222 (STARTTLS)"])
      #expect(try plan(.notAsked, silence, isInHosts: true) == ["x.test:5223 (direct TLS)"])
    }
    let refusal = DNSError(name: "_xmpp-client._tcp.x.test", kind: .serverFailure("refused"))
    #expect(throws: ConnectError.lookup(refusal)) { try plan(.failed(refusal), .none, isInHosts: true) }
  }
}
