extension Element {
  /// The element as XML, in a place where no default namespace holds.
  public var xml: String {
    var out: [UInt8] = []
    write(to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  /// Its bytes as XML in a place where `parentNamespace` is the default namespace.
  public func byteCount(parentNamespace: String = "") -> Int {
    var bytes: [UInt8] = []
    write(to: &bytes, parentNamespace: parentNamespace)
    return bytes.count
  }

  /// Appends the element as UTF-8. What it writes is always well-formed: text is escaped, characters that XML forbids
  /// become U+FFFD, characters that no name may have become "_", an attribute that comes twice is written once.
  /// - Parameter parentNamespace: the default namespace where the element goes, which it need not declare again.
  public func write(to out: inout [UInt8], parentNamespace: String = "") {
    // The namespace of "xml:" can't be a default namespace; that prefix needs no declaration.
    let isXML = XMLText.isSame(namespace, XMLNamespace.xml)
    let tag = isXML ? "xml:" + XMLText.sanitizedName(name) : XMLText.sanitizedName(name)
    out.append(UInt8(ascii: "<"))
    out.append(tag)
    let scope = isXML ? parentNamespace : namespace
    // No element may be in the namespace of declarations; such a one goes into none.
    let content = XMLText.isSame(scope, XMLNamespace.xmlns) ? "" : scope
    if !XMLText.isSame(content, parentNamespace) {
      out.append(" xmlns='")
      out.append(escaped: content, inAttribute: true)
      out.append(UInt8(ascii: "'"))
    }
    if !attributes.isEmpty { writeAttributes(to: &out) }
    if children.isEmpty {
      out.append("/>")
      return
    }
    out.append(UInt8(ascii: ">"))
    for child in children {
      switch child {
      case .element(let element): element.write(to: &out, parentNamespace: content)
      case .text(let text): out.append(escaped: text, inAttribute: false)
      }
    }
    out.append("</")
    out.append(tag)
    out.append(UInt8(ascii: ">"))
  }

  private func writeAttributes(to out: inout [UInt8]) {
    var prefixes: [String] = []
    for (index, attribute) in attributes.enumerated() {
      if XMLText.isSame(attribute.namespace, XMLNamespace.xmlns) { continue }
      let local = XMLText.sanitizedName(attribute.name)
      // Without a prefix, "xmlns" would be a declaration.
      if attribute.namespace.isEmpty && local == "xmlns" { continue }
      let isRepeated = attributes[..<index].contains {
        XMLText.isSame(XMLText.sanitizedName($0.name), local) && XMLText.isSame($0.namespace, attribute.namespace)
      }
      if isRepeated { continue }
      let prefix = prefix(for: attribute.namespace, &prefixes, &out)
      out.append(UInt8(ascii: " "))
      out.append(prefix)
      out.append(local)
      out.append("='")
      out.append(escaped: attribute.value, inAttribute: true)
      out.append(UInt8(ascii: "'"))
    }
  }

  /// The prefix, with its colon, for an attribute's namespace; declared here when it is new.
  private func prefix(for namespace: String, _ known: inout [String], _ out: inout [UInt8]) -> String {
    if namespace.isEmpty { return "" }
    if XMLText.isSame(namespace, XMLNamespace.xml) { return "xml:" }
    if let index = known.firstIndex(where: { XMLText.isSame($0, namespace) }) { return "ns\(index + 1):" }
    known.append(namespace)
    out.append(" xmlns:ns\(known.count)='")
    out.append(escaped: namespace, inAttribute: true)
    out.append("'")
    return "ns\(known.count):"
  }
}

extension [UInt8] {
  mutating func append(_ text: String) {
    let done: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
    if done == nil { append(contentsOf: text.utf8) }
  }

  /// Appends `text` as character data or as the inside of an attribute value.
  mutating func append(escaped text: String, inAttribute: Bool) {
    let done: Void? = text.utf8.withContiguousStorageIfAvailable { append(escaping: $0, inAttribute) }
    if done == nil { [UInt8](text.utf8).withUnsafeBufferPointer { append(escaping: $0, inAttribute) } }
  }

  private mutating func append(escaping bytes: UnsafeBufferPointer<UInt8>, _ inAttribute: Bool) {
    var start = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      // Most bytes need nothing: everything from "?" up, except the lead byte of U+FFFE.
      if byte > 0x3E && byte != 0xEF {
        index += 1
        continue
      }
      let (replacement, length) = Self.escape(bytes, index, inAttribute)
      if let replacement {
        append(contentsOf: bytes[start..<index])
        append(contentsOf: replacement.utf8)
        start = index + length
      }
      index += length
    }
    append(contentsOf: bytes[start...])
  }

  /// What stands for the character at `index`, nil for itself, and how many bytes it has.
  private static func escape(
    _ bytes: UnsafeBufferPointer<UInt8>, _ index: Int, _ inAttribute: Bool
  ) -> (StaticString.UTF8?, Int) {
    switch bytes[index] {
    case UInt8(ascii: "&"): (.init("&amp;"), 1)
    case UInt8(ascii: "<"): (.init("&lt;"), 1)
    case UInt8(ascii: ">"): (.init("&gt;"), 1)
    case UInt8(ascii: "'") where inAttribute: (.init("&apos;"), 1)
    // A parser would make spaces and line feeds of these (XML 1.0, sections 2.11 and 3.3.3).
    case 0x9 where inAttribute: (.init("&#9;"), 1)
    case 0xA where inAttribute: (.init("&#10;"), 1)
    case 0xD: (.init("&#13;"), 1)
    case 0x9, 0xA: (nil, 1)
    case 0..<0x20: (.init("\u{FFFD}"), 1)
    case 0xEF where index + 2 < bytes.count && bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE:
      (.init("\u{FFFD}"), 3)
    default: (nil, 1)
    }
  }
}

extension StaticString {
  /// The bytes of a literal.
  fileprivate struct UTF8 {
    let utf8: UnsafeBufferPointer<UInt8>
    init(_ text: StaticString) { utf8 = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount) }
  }
}
