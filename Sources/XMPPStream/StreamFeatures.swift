import XML
import XMPPStanzas

/// What the server offers at one point of the negotiation (RFC 6120 section 4.3.2). What is unknown is skipped.
public struct StreamFeatures: Sendable, Hashable {
  public var startTLS = false
  /// SASL mechanisms, in the server's order.
  public var mechanisms: [String] = []
  /// Channel-binding types (XEP-0440); nil when the server does not say.
  public var channelBindings: [String]?
  public var bind = false
  /// A server of RFC 3921's time: nothing works before a session is established (its section 3).
  public var session = false
  public var rosterVersioning = false
  /// Acknowledgements and resumption (XEP-0198).
  public var streamManagement = false
  /// In-band registration (XEP-0077 section 8).
  public var register = false
  /// The bytes that one stanza may have (XEP-0478); nil when the server does not say.
  public var maxBytes: Int?

  init(_ element: Element) {
    for case .element(let feature) in element.children {
      switch (feature.name, feature.namespace) {
      case ("starttls", Namespace.tls): startTLS = true
      case ("mechanisms", Namespace.sasl):
        mechanisms = feature.elements.filter { $0.isNamed("mechanism", Namespace.sasl) }.map(\.text)
      case ("sasl-channel-binding", Namespace.channelBinding):
        channelBindings = feature.elements.compactMap { $0["type"] }
      case ("bind", Namespace.bind): bind = true
      // Newer servers offer it for old clients' sake and say that it may be left out.
      case ("session", Namespace.session): session = feature.child("optional", Namespace.session) == nil
      case ("ver", Namespace.rosterVersioning): rosterVersioning = true
      case ("sm", Namespace.streamManagement): streamManagement = true
      case ("register", Namespace.registerFeature): register = true
      case ("limits", Namespace.streamLimits):
        maxBytes = feature.child("max-bytes", Namespace.streamLimits).flatMap { Int($0.text) }.flatMap {
          $0 > 0 ? $0 : nil
        }
      default: break
      }
    }
  }
}
