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

  /// A stanza that is read to its end, but not kept.
  private struct Skipped {
    let root: Element
    let reason: String
    /// Its open elements.
    var depth: Int
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
  /// The stanza under way exceeds a limit: from then on nothing of it is kept.
  private var skipped: Skipped?
  private(set) var isOpened = false
  private(set) var isClosed = false
  /// Where the unfinished stanza began; nil between stanzas.
  private(set) var stanzaStart: Int?
  /// Where the token ends that completed the latest event.
  private(set) var eventEnd = 0

  init(limits: ParserLimits) { self.limits = limits }

  /// Between two stanzas, where white space means nothing.
  var isBetweenStanzas: Bool { isOpened && !isClosed && open.isEmpty && skipped == nil }

  /// The next event that nobody has seen yet. Two at most wait, when the stream is one empty element.
  mutating func nextEvent() -> StreamEvent? { events.count > 1 ? events.removeFirst() : events.popLast() }

  /// A namespace declaration of the element that comes next.
  mutating func declare(prefix: UnsafePointer<CChar>?, namespace: UnsafePointer<CChar>?) -> Verdict {
    declarations += 1
    if prefix == nil && !isOpened { defaultNamespace = namespace.map { String(cString: $0) } }
    return .goOn
  }

  /// A start tag.
  mutating func start(
    _ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>, _ token: Token
  ) -> Verdict {
    let declared = declarations
    declarations = 0
    if isBetweenStanzas {
      stanzaStart = token.start
      nodes = 0
    }
    if let refusal = oversize(token) { return refusal }
    flushText()
    if let depth = skipped?.depth {
      guard depth < limits.skippedDepth else {
        return .refuse(.policyViolation("elements are nested deeper than \(limits.skippedDepth)"))
      }
      skipped?.depth = depth + 1
      return .goOn
    }
    let (list, isWhole) = list(attributes)
    let element = Element(names.name(name), list)
    let attributesExceed = !isWhole || declared > limits.attributes
    guard isOpened else { return openStream(element, token, attributesExceed) }
    open.append(element)
    nodes += 1
    if attributesExceed {
      skip("an element has more than \(limits.attributes) attributes")
    } else if token.end - token.start > limits.tokenBytes {
      skip("a tag is longer than \(limits.tokenBytes) bytes")
    } else if open.count + 1 > limits.depth {
      skip("elements are nested deeper than \(limits.depth)")
    } else if nodes > limits.nodes {
      skipForNodes()
    }
    return .goOn
  }

  private mutating func openStream(_ header: Element, _ token: Token, _ attributesExceed: Bool) -> Verdict {
    if attributesExceed {
      return .refuse(.policyViolation("the stream header has more than \(limits.attributes) attributes"))
    }
    isOpened = true
    if token.end > limits.tokenBytes {
      return .refuse(.policyViolation("the stream header is longer than \(limits.tokenBytes) bytes"))
    }
    var header = header
    if let defaultNamespace {
      header.attributes.append(Attribute("xmlns", XMLNamespace.xmlns, value: defaultNamespace))
    }
    eventEnd = token.end
    events.append(.opened(header))
    return .deliver
  }

  /// An end tag.
  mutating func end(_ token: Token) -> Verdict {
    if let refusal = oversize(token) { return refusal }
    flushText()
    if skipped != nil { return endSkipped(token) }
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
    return deliver(.element(element), token)
  }

  private mutating func endSkipped(_ token: Token) -> Verdict {
    skipped?.depth -= 1
    guard let stanza = skipped, stanza.depth == 0 else { return .goOn }
    skipped = nil
    return deliver(.skipped(stanza.root, reason: stanza.reason), token)
  }

  private mutating func deliver(_ event: StreamEvent, _ token: Token) -> Verdict {
    stanzaStart = nil
    eventEnd = token.end
    events.append(event)
    return .deliver
  }

  /// Drops what there is of the stanza under way but its start tag.
  private mutating func skip(_ reason: String) {
    guard var root = open.first else { return }
    root.children = []
    skipped = Skipped(root: root, reason: reason, depth: open.count)
    open = []
    text = []
  }

  private mutating func skipForNodes() { skip("a stanza has more than \(limits.nodes) elements and texts") }

  /// Character data.
  mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>, _ token: Token) -> Verdict {
    if isBetweenStanzas || !isOpened {
      return bytes.allSatisfy(Self.isWhiteSpace) ? .goOn : .refuse(.badFormat("text stands between stanzas"))
    }
    if skipped == nil { text.append(contentsOf: bytes) }
    return oversize(token) ?? .goOn
  }

  static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  /// The attributes, as many as there may be, and whether that is all.
  private mutating func list(
    _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
  ) -> (list: [Attribute], isWhole: Bool) {
    var list: [Attribute] = []
    var index = 0
    while let name = attributes[index], let value = attributes[index + 1] {
      if list.count == limits.attributes { return (list, false) }
      if index == 0 { list.reserveCapacity(4) }
      let name = names.name(name)
      list.append(Attribute(name.local, name.namespace, value: String(cString: value)))
      index += 2
    }
    return (list, true)
  }

  private mutating func flushText() {
    guard !text.isEmpty, !open.isEmpty else { return }
    open[open.count - 1].children.append(.text(String(decoding: text, as: UTF8.self)))
    text.removeAll(keepingCapacity: text.count <= 1 << 16)
    nodes += 1
    if nodes > limits.nodes { skipForNodes() }
  }

  private mutating func oversize(_ token: Token) -> Verdict? {
    guard let stanzaStart, token.end - stanzaStart > limits.stanzaBytes else { return nil }
    if skipped == nil { skip("a stanza is longer than \(limits.stanzaBytes) bytes") }
    guard token.end - stanzaStart > limits.skippedBytes else { return nil }
    return .refuse(.policyViolation("a stanza is longer than \(limits.skippedBytes) bytes"))
  }
}
