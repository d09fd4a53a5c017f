/// What the SRV lookup of one kind of service came to.
enum ServiceLookup: Sendable, Hashable {
  case records([ServiceRecord])
  case none
  case failed(DNSError)
  /// The operator wants the other kind.
  case notAsked
}

/// Which servers to try for a domain, in which order (RFC 6120 section 3.2, XEP-0368 section 3).
enum ServicePlan {
  /// More targets than this are not tried in one go.
  static let targetLimit = 32

  /// Both kinds of records are one set. Without any for STARTTLS, and no good ones for direct TLS, the domain itself is
  /// the server, on port 5222. Where only direct TLS is wanted, the domain on port 5223 takes that place.
  /// A lookup that failed is an error unless the other one gave servers: to guess then would hide DNS trouble. But where DNS says
  /// nothing and /etc/hosts knows the domain (`isInHosts`), it is no guess (RFC 6120 section 3.2.1, point 7).
  static func endpoints(
    domain: String, starttls: ServiceLookup, direct: ServiceLookup, isInHosts: Bool = false,
    using random: inout some RandomNumberGenerator
  ) throws(ConnectError) -> [Endpoint] {
    let records = starttls.records + direct.records
    let endpoints = SRVOrder.order(records.filter { $0.endpoint != nil }, limit: targetLimit, using: &random)
      .compactMap(\.endpoint)
    if !endpoints.isEmpty { return endpoints }

    // The kind whose absence means "ask the domain itself".
    let (main, security): (ServiceLookup, Security) =
      starttls == .notAsked ? (direct, .direct) : (starttls, .starttls)
    let itself = Endpoint(host: domain, port: security.defaultPort, security: security)
    switch main {
    case .none: return [itself]
    case .failed(let error) where isInHosts && error.isSilence: return [itself]
    case .failed(let error): throw .lookup(error)
    case .records(let records) where records.contains(where: \.saysNotOffered): throw .notOffered(domain: domain)
    case .records, .notAsked:
      throw .lookup(DNSError(name: security.serviceName(domain), kind: .uselessRecords))
    }
  }
}

extension ServiceLookup {
  var hasRecords: Bool { !records.isEmpty }

  fileprivate var records: [ServiceRecord] {
    if case .records(let records) = self { records } else { [] }
  }
}
