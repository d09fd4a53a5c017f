/// Makes elements of what expat reports, within the limits. Expat's handlers call it; it knows nothing of expat.
struct TreeBuilder {
  /// What is to happen after a report.
  enum Verdict {
    case goOn
    /// An event is ready.
    case deliver
    case refuse(XMLStreamError)
  }

  /// Where the reported token lies, in bytes that expat has been given.
  struct Token {
    let start: Int
    let end: Int
  }

  private let limits: ParserLimits
  private var names = NameCache()
  /// The open elements below the stream's own.
  private var open: [Element] = []
  /// Text that is not yet in an element: expat reports it in pieces.
  private var text: [UInt8] = []
  private var nodes = 0
  private var declarations = 0
  private var defaultNamespace: String?
  private var events: [StreamEvent] = []
  private(set) var isOpened = false
  private(set) var isClosed = false
  /// Where the unfinished stanza began; nil between stanzas.
  private(set) var stanzaStart: Int?
  /// Where the token ends that completed the latest event.
  private(set) var eventEnd = 0

  init(limits: ParserLimits) { self.limits = limits }

  /// Between two stanzas, where white space means nothing.
  var isBetweenStanzas: Bool { isOpened && !isClosed && open.isEmpty }

  /// The next event that nobody has seen yet. Two at most wait, when the stream is one empty element.
  mutating func nextEvent() -> StreamEvent? { events.count > 1 ? events.removeFirst() : events.popLast() }

  /// A namespace declaration of the element that comes next.
  mutating func declare(prefix: UnsafePointer<CChar>?, namespace: UnsafePointer<CChar>?) -> Verdict {
    declarations += 1
    if declarations > limits.attributes {
      return .refuse(.policyViolation("an element declares more than \(limits.attributes) namespaces"))
    }
    if prefix == nil && !isOpened { defaultNamespace = namespace.map { String(cString: $0) } }
    return .goOn
  }

  /// A start tag.
  mutating func start(
    _ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>, _ token: Token
  ) -> Verdict {
    declarations = 0
    if token.end - token.start > limits.tokenBytes {
      return .refuse(.policyViolation("a tag is longer than \(limits.tokenBytes) bytes"))
    }
    if isOpened && open.isEmpty {
      stanzaStart = token.start
      nodes = 0
    } else if let refusal = flushText() {
      return refusal
    }
    if open.count + (isOpened ? 1 : 0) >= limits.depth {
      return .refuse(.policyViolation("elements are nested deeper than \(limits.depth)"))
    }
    if let refusal = count(token) { return refusal }
    guard var list = list(attributes) else {
      return .refuse(.policyViolation("an element has more than \(limits.attributes) attributes"))
    }
    if isOpened {
      open.append(Element(names.name(name), list))
      return .goOn
    }
    isOpened = true
    if token.end > limits.tokenBytes {
      return .refuse(.policyViolation("the stream header is longer than \(limits.tokenBytes) bytes"))
    }
    if let defaultNamespace {
      list.append(Attribute("xmlns", XMLNamespace.xmlns, value: defaultNamespace))
    }
    eventEnd = token.end
    events.append(.opened(Element(names.name(name), list)))
    return .deliver
  }

  /// An end tag.
  mutating func end(_ token: Token) -> Verdict {
    if let refusal = flushText() ?? oversize(token) { return refusal }
    guard let element = open.popLast() else {
      isClosed = true
      eventEnd = token.end
      events.append(.closed)
      return .deliver
    }
    if !open.isEmpty {
      open[open.count - 1].children.append(.element(element))
      return .goOn
    }
    stanzaStart = nil
    eventEnd = token.end
    events.append(.element(element))
    return .deliver
  }

  /// Character data.
  mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>, _ token: Token) -> Verdict {
    if open.isEmpty {
      return bytes.allSatisfy(Self.isWhiteSpace) ? .goOn : .refuse(.badFormat("text stands between stanzas"))
    }
    text.append(contentsOf: bytes)
    return oversize(token) ?? .goOn
  }

  static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  private mutating func list(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) -> [Attribute]? {
    var list: [Attribute] = []
    var index = 0
    while let name = attributes[index], let value = attributes[index + 1] {
      if list.count == limits.attributes { return nil }
      if index == 0 { list.reserveCapacity(4) }
      let name = names.name(name)
      list.append(Attribute(name.local, name.namespace, value: String(cString: value)))
      index += 2
    }
    return list
  }

  private mutating func flushText() -> Verdict? {
    guard !text.isEmpty, !open.isEmpty else { return nil }
    open[open.count - 1].children.append(.text(String(decoding: text, as: UTF8.self)))
    text.removeAll(keepingCapacity: text.count <= 1 << 16)
    return count(nil)
  }

  private mutating func count(_ token: Token?) -> Verdict? {
    nodes += 1
    if nodes > limits.nodes {
      return .refuse(.policyViolation("a stanza has more than \(limits.nodes) elements and texts"))
    }
    return token.flatMap(oversize)
  }

  private func oversize(_ token: Token) -> Verdict? {
    guard let stanzaStart, token.end - stanzaStart > limits.stanzaBytes else { return nil }
    return .refuse(.policyViolation("a stanza is longer than \(limits.stanzaBytes) bytes"))
  }
}
