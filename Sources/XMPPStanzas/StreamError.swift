import XML

/// A stream error (RFC 6120 section 4.9): the stream is over.
public struct StreamError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the condition (section 4.9.3), such as `conflict`.
  public var condition: String
  public var text: String?
  /// Where to connect instead, with `see-other-host` (section 4.9.3.19).
  public var otherHost: String?

  public init(_ condition: String, _ text: String? = nil) {
    self.condition = condition
    self.text = text
  }

  /// Reads a `<stream:error/>`.
  public init(_ element: Element) {
    condition = "undefined-condition"
    for case .element(let child) in element.children where child.namespace == Namespace.streamErrors {
      if child.name == "text" {
        text = child.text
      } else {
        condition = child.name
        if child.name == "see-other-host" { otherHost = child.text }
      }
    }
  }

  public var element: Element {
    var error = Element("error", Namespace.stream)
    error.append(Element(condition, Namespace.streamErrors))
    if let text { error.append(Element("text", Namespace.streamErrors, text: text)) }
    return error
  }

  /// One line; of a long text the beginning.
  public var description: String { condition + (text.map { " (\($0.prefix(200)))" } ?? "") }
}
