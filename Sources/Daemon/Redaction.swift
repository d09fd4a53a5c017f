import XML
import XMPPStanzas

/// Stanzas for the log, with their secrets blanked.
enum Redaction {
  /// The XML of `element`; what SASL and registration carry is `…`.
  static func xml(of element: Element) -> String {
    blanked(element).xml
  }

  private static func blanked(_ element: Element) -> Element {
    if element.namespace == Namespace.sasl, element.name != "mechanisms", element.name != "failure" {
      return emptied(element)
    }
    if element.name == "password" { return emptied(element) }
    var copy = element
    copy.children = element.children.map { node in
      if case .element(let child) = node { return .element(blanked(child)) }
      return node
    }
    return copy
  }

  private static func emptied(_ element: Element) -> Element {
    Element(element.name, element.namespace, element.attributes.map { ($0.name, $0.value) }, text: "…")
  }
}
