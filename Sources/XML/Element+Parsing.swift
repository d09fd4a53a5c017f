extension Element {
  /// Parses one element, under the rules of a stream; white space may surround it.
  public init(parsing xml: String, limits: ParserLimits = .init()) throws(XMLStreamError) {
    var found: [Element] = []
    try StreamParser(limits: limits).parse(Array("<x>\(xml)</x>".utf8)) { event in
      if case .element(let element) = event { found.append(element) }
    }
    guard found.count == 1, let element = found.first else { throw .badFormat("not exactly one element") }
    self = element
  }
}
