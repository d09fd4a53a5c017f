/// An attribute; `namespace` is empty for the usual kind, which has none.
public struct Attribute: Sendable, Hashable {
  public var name: String
  public var namespace: String
  public var value: String

  public init(_ name: String, _ namespace: String = "", value: String) {
    self.name = name
    self.namespace = namespace
    self.value = value
  }
}

/// What an element holds: elements and runs of text, in order.
public enum Node: Sendable, Hashable {
  case element(Element)
  case text(String)
}

/// An XML element with its namespace resolved. Prefixes are not kept; the writer makes its own.
public struct Element: Sendable, Hashable {
  public var name: String
  /// The namespace's URI; empty for none.
  public var namespace: String
  public var attributes: [Attribute]
  public var children: [Node]

  /// An element with child elements. An attribute whose value is nil is left out.
  public init(
    _ name: String, _ namespace: String, _ attributes: [(String, String?)] = [], _ children: [Element] = []
  ) {
    self.name = name
    self.namespace = namespace
    self.attributes = attributes.compactMap { name, value in value.map { Attribute(name, value: $0) } }
    self.children = children.map(Node.element)
  }

  /// An element that holds `text` alone. An attribute whose value is nil is left out.
  public init(_ name: String, _ namespace: String, _ attributes: [(String, String?)] = [], text: String) {
    self.init(name, namespace, attributes)
    if !text.isEmpty { children = [.text(text)] }
  }

  init(_ name: Name, _ attributes: [Attribute]) {
    self.name = name.local
    self.namespace = name.namespace
    self.attributes = attributes
    children = []
  }

  /// The attribute of that name without a namespace. Setting nil removes it.
  public subscript(_ attribute: String) -> String? {
    get { self[attribute, namespace: ""] }
    set { self[attribute, namespace: ""] = newValue }
  }

  /// The attribute of that name and namespace. Setting nil removes it.
  public subscript(_ attribute: String, namespace namespace: String) -> String? {
    get {
      attributes.first { XMLText.isSame($0.name, attribute) && XMLText.isSame($0.namespace, namespace) }?.value
    }
    set {
      let index = attributes.firstIndex {
        XMLText.isSame($0.name, attribute) && XMLText.isSame($0.namespace, namespace)
      }
      switch (index, newValue) {
      case (let index?, let value?): attributes[index].value = value
      case (let index?, nil): attributes.remove(at: index)
      case (nil, let value?): attributes.append(Attribute(attribute, namespace, value: value))
      case (nil, nil): break
      }
    }
  }

  /// The element's own `xml:lang`; it does not look at its parents.
  public var lang: String? {
    get { self["lang", namespace: XMLNamespace.xml] }
    set { self["lang", namespace: XMLNamespace.xml] = newValue }
  }

  /// The default namespace that a stream header declares (RFC 6120, section 4.8.2); the parser keeps it on headers only.
  public var declaredDefaultNamespace: String? { self["xmlns", namespace: XMLNamespace.xmlns] }

  public func isNamed(_ name: String, _ namespace: String) -> Bool {
    XMLText.isSame(self.name, name) && XMLText.isSame(self.namespace, namespace)
  }

  /// The first child element of that name and namespace.
  public func child(_ name: String, _ namespace: String) -> Element? {
    for case .element(let element) in children where element.isNamed(name, namespace) { return element }
    return nil
  }

  /// The child elements, in order.
  public var elements: [Element] {
    children.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }

  /// The element's own text, without that of its children.
  public var text: String {
    if children.count == 1, case .text(let text) = children[0] { return text }
    return children.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
  }

  public mutating func append(_ child: Element) { children.append(.element(child)) }
}

/// The namespaces that XML itself reserves (Namespaces in XML 1.0, section 3).
public enum XMLNamespace {
  /// Of `xml:lang`.
  public static let xml = "http://www.w3.org/XML/1998/namespace"
  /// Of namespace declarations.
  public static let xmlns = "http://www.w3.org/2000/xmlns/"
}
