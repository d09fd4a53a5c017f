/// An XMPP address (RFC 7622). Always normalised; compared by its normalised bytes.
public struct JID: Sendable, Hashable, CustomStringConvertible {
  public let local: String?
  public let domain: String
  public let resource: String?

  /// Parses and normalises `text`.
  public init(_ text: String) throws(JIDError) {
    var rest = text[...]
    if let slash = rest.firstIndex(of: "/") {
      resource = String(rest[rest.index(after: slash)...])
      rest = rest[..<slash]
    } else {
      resource = nil
    }
    if let at = rest.firstIndex(of: "@") {
      local = rest[..<at].lowercased()
      rest = rest[rest.index(after: at)...]
    } else {
      local = nil
    }
    domain = rest.lowercased()
    if domain.isEmpty { throw JIDError(part: .domain, reason: "is empty") }
  }

  private init(local: String?, domain: String, resource: String?) {
    self.local = local
    self.domain = domain
    self.resource = resource
  }

  /// The address without its resource.
  public var bare: JID { JID(local: local, domain: domain, resource: nil) }

  /// This address with another resource (normalised) in place of its own.
  public func with(resource: String) throws(JIDError) -> JID { try JID(bare.description + "/" + resource) }

  public var description: String {
    (local.map { $0 + "@" } ?? "") + domain + (resource.map { "/" + $0 } ?? "")
  }
}

/// Why a text is no JID.
public struct JIDError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Part: String, Sendable { case local, domain, resource, whole }
  public let part: Part
  public let reason: String
  public init(part: Part, reason: String) {
    self.part = part
    self.reason = reason
  }
  public var description: String { "\(part.rawValue) part \(reason)" }
}
