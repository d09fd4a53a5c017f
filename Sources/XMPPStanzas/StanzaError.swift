import XML

/// A stanza error (RFC 6120 section 8.3).
public struct StanzaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the sender may do about it (section 8.3.2).
  public enum Kind: String, Sendable {
    case auth, cancel, `continue`, modify, wait
  }

  /// The defined conditions (section 8.3.3) that the bot sends or tells apart.
  public enum Condition: String, Sendable {
    case badRequest = "bad-request"
    case conflict
    case featureNotImplemented = "feature-not-implemented"
    case forbidden
    case gone
    case internalServerError = "internal-server-error"
    case itemNotFound = "item-not-found"
    case jidMalformed = "jid-malformed"
    case notAcceptable = "not-acceptable"
    case notAllowed = "not-allowed"
    case notAuthorized = "not-authorized"
    case policyViolation = "policy-violation"
    case recipientUnavailable = "recipient-unavailable"
    case redirect
    case registrationRequired = "registration-required"
    case remoteServerNotFound = "remote-server-not-found"
    case remoteServerTimeout = "remote-server-timeout"
    case resourceConstraint = "resource-constraint"
    case serviceUnavailable = "service-unavailable"
    case subscriptionRequired = "subscription-required"
    case undefinedCondition = "undefined-condition"
    case unexpectedRequest = "unexpected-request"
  }

  /// What an extension has to say more precisely (section 8.3.4); written only.
  public struct Detail: Sendable, Hashable {
    public var name: String
    public var namespace: String

    public init(_ name: String, _ namespace: String) {
      self.name = name
      self.namespace = namespace
    }
  }

  /// Characters of a text that are read: strangers write it, and it goes into the archive and the log.
  static let longestText = 200

  public var kind: Kind
  public var condition: Condition
  public var text: String?
  public var detail: Detail?

  public init(_ kind: Kind, _ condition: Condition, _ text: String? = nil) {
    self.kind = kind
    self.condition = condition
    self.text = text
  }

  /// Reads the `<error/>` child of an error stanza; what is missing or unknown becomes `undefined-condition`.
  public init(errorStanza: Element) {
    let error = errorStanza.child("error", Namespace.client)
    kind = error?["type"].flatMap(Kind.init(rawValue:)) ?? .cancel
    condition = .undefinedCondition
    for case .element(let child) in error?.children ?? [] where child.namespace == Namespace.stanzaErrors {
      if child.name == "text" {
        text = String(child.text.prefix(Self.longestText))
      } else {
        condition = Condition(rawValue: child.name) ?? .undefinedCondition
      }
    }
  }

  /// The `<error/>` element.
  public var element: Element {
    var error = Element("error", Namespace.client, [("type", kind.rawValue)])
    error.append(Element(condition.rawValue, Namespace.stanzaErrors))
    if let text { error.append(Element("text", Namespace.stanzaErrors, text: text)) }
    if let detail { error.append(Element(detail.name, detail.namespace)) }
    return error
  }

  public var description: String { condition.rawValue + (text.map { " (\($0))" } ?? "") }
}
