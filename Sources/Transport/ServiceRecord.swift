/// An SRV record (RFC 2782) of one of the two kinds of XMPP client service.
struct ServiceRecord: Sendable, Hashable {
  let priority: UInt16
  let weight: UInt16
  let port: UInt16
  /// As received; "." or "" says that there is no such service.
  let target: String
  let security: Security

  var saysNotOffered: Bool { target.isEmpty || target == "." }

  /// Nil for a record that leads nowhere.
  var endpoint: Endpoint? {
    guard port != 0, !saysNotOffered, let host = DomainName.ascii(target) else { return nil }
    return Endpoint(host: host, port: port, security: security)
  }
}

extension Security {
  /// The name whose SRV records tell of this kind of service (RFC 6120, section 3.2.1; XEP-0368).
  func serviceName(_ domain: String) -> String {
    (self == .direct ? "_xmpps-client._tcp." : "_xmpp-client._tcp.") + domain
  }
}

/// The order in which the targets of SRV records are tried.
enum SRVOrder {
  /// The first `limit` records: lowest priority first, and within one priority by lot, weighted as RFC 2782 says.
  static func order(
    _ records: [ServiceRecord], limit: Int, using random: inout some RandomNumberGenerator
  ) -> [ServiceRecord] {
    var ordered: [ServiceRecord] = []
    for priority in Set(records.map(\.priority)).sorted() {
      // Weight 0 stands first, so that it has a small chance beside greater weights.
      var left = records.filter { $0.priority == priority && $0.weight == 0 }
      left += records.filter { $0.priority == priority && $0.weight != 0 }
      while !left.isEmpty, ordered.count < limit {
        ordered.append(left.remove(at: draw(left, using: &random)))
      }
    }
    return ordered
  }

  private static func draw(_ records: [ServiceRecord], using random: inout some RandomNumberGenerator) -> Int {
    let lot = Int.random(in: 0...records.reduce(0) { $0 + Int($1.weight) }, using: &random)
    var sum = 0
    return records.firstIndex { record in
      sum += Int(record.weight)
      return sum >= lot
    } ?? 0
  }
}
