import XML

/// XEP-0059 (1.0): which part of a long list is asked for, and which part an answer is.
public struct ResultSet: Sendable, Hashable {
  // Asked.
  /// At most so many items.
  public var max: Int?
  /// The page that ends before this item; with "" the last page (section 2.5).
  public var before: String?
  /// The page that begins after this item.
  public var after: String?

  // Answered.
  public var first: String?
  public var last: String?
  /// All items there are, if the answerer counts them, perhaps roughly.
  public var count: Int?
  /// The place of `first` among all items.
  public var index: Int?

  public init(max: Int? = nil, before: String? = nil, after: String? = nil) {
    self.max = max
    self.before = before
    self.after = after
  }

  public init?(_ element: Element) {
    guard element.isNamed("set", Namespace.resultSet) else { return nil }
    for case .element(let child) in element.children where child.namespace == Namespace.resultSet {
      switch child.name {
      case "max": max = Int(child.text)
      case "before": before = child.text
      case "after": after = child.text
      // An id is never empty.
      case "first":
        first = child.text.isEmpty ? nil : child.text
        index = child["index"].flatMap { Int($0) }
      case "last": last = child.text.isEmpty ? nil : child.text
      case "count": count = Int(child.text)
      default: break
      }
    }
  }

  /// What is asked, as an element; what was answered is not in it.
  public var element: Element {
    var set = Element("set", Namespace.resultSet)
    if let max { set.append(Element("max", Namespace.resultSet, text: String(max))) }
    if let before { set.append(Element("before", Namespace.resultSet, text: before)) }
    if let after { set.append(Element("after", Namespace.resultSet, text: after)) }
    return set
  }
}
