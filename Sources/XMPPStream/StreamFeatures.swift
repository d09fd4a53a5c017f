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
  public var rosterVersioning = false
  /// In-band registration (XEP-0077 section 8).
  public var register = false

  init(_ element: Element) {
    for feature in element.elements {
      switch (feature.name, feature.namespace) {
      case ("starttls", Namespace.tls): startTLS = true
      case ("mechanisms", Namespace.sasl):
        mechanisms = feature.elements.filter { $0.isNamed("mechanism", Namespace.sasl) }.map(\.text)
      case ("sasl-channel-binding", Namespace.channelBinding):
        channelBindings = feature.elements.compactMap { $0["type"] }
      case ("bind", Namespace.bind): bind = true
      case ("ver", Namespace.rosterVersioning): rosterVersioning = true
      case ("register", Namespace.registerFeature): register = true
      default: break
      }
    }
  }
}
