import CExpat

/// Why the bytes of a stream are refused. The stream can't go on after it (RFC 6120, section 4.9).
public enum XMLStreamError: Error, Sendable, Hashable, CustomStringConvertible {
  case notWellFormed(String)
  /// A comment, a processing instruction, a document type or an entity (RFC 6120, section 11.1).
  case restrictedXML(String)
  /// A prefix that is not declared, or a declaration that XML reserves.
  case badNamespacePrefix(String)
  case unsupportedEncoding(String)
  /// Well-formed, but not what a stream holds: text between stanzas.
  case badFormat(String)
  /// One of ``ParserLimits``.
  case policyViolation(String)

  /// The name of the stream error condition (RFC 6120, section 4.9.3).
  public var condition: String {
    switch self {
    case .notWellFormed: "not-well-formed"
    case .restrictedXML: "restricted-xml"
    case .badNamespacePrefix: "bad-namespace-prefix"
    case .unsupportedEncoding: "unsupported-encoding"
    case .badFormat: "bad-format"
    case .policyViolation: "policy-violation"
    }
  }

  public var reason: String {
    switch self {
    case .notWellFormed(let reason), .restrictedXML(let reason), .badNamespacePrefix(let reason),
      .unsupportedEncoding(let reason), .badFormat(let reason), .policyViolation(let reason):
      reason
    }
  }

  public var description: String { "\(condition): \(reason)" }

  /// Expat's error `code`, met at byte `offset` of the stream.
  init(_ code: XML_Error, at offset: Int) {
    let reason = (XML_ErrorString(code).map { String(cString: $0) } ?? "error \(code.rawValue)") + " at byte \(offset)"
    switch code {
    case XML_ERROR_UNDEFINED_ENTITY, XML_ERROR_RECURSIVE_ENTITY_REF, XML_ERROR_BINARY_ENTITY_REF,
      XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF, XML_ERROR_ENTITY_DECLARED_IN_PE, XML_ERROR_EXTERNAL_ENTITY_HANDLING:
      self = .restrictedXML(reason)
    case XML_ERROR_UNBOUND_PREFIX, XML_ERROR_UNDECLARING_PREFIX, XML_ERROR_RESERVED_PREFIX_XML,
      XML_ERROR_RESERVED_PREFIX_XMLNS, XML_ERROR_RESERVED_NAMESPACE_URI:
      self = .badNamespacePrefix(reason)
    case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING:
      self = .unsupportedEncoding(reason)
    // An invalid argument is the parser itself, when there was no memory to make it.
    case XML_ERROR_NO_MEMORY, XML_ERROR_INVALID_ARGUMENT, XML_ERROR_AMPLIFICATION_LIMIT_BREACH:
      self = .policyViolation(reason)
    default:
      self = .notWellFormed(reason)
    }
  }
}
