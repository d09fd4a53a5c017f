import XML

/// What the bot is expected to say: XML in which `$name` stands for any attribute value or text.
struct Expectation {
  let element: Element

  /// True when `actual` fits; names seen for the first time are bound.
  func matches(_ actual: Element, _ names: inout [String: String]) -> Bool {
    Self.fits(element, actual, &names)
  }

  private static func fits(_ expected: Element, _ actual: Element, _ names: inout [String: String]) -> Bool {
    guard expected.isNamed(actual.name, actual.namespace), expected.attributes.count == actual.attributes.count else {
      return false
    }
    for attribute in expected.attributes {
      guard
        let other = actual.attributes.first(where: {
          $0.name == attribute.name && $0.namespace == attribute.namespace
        }), fits(attribute.value, other.value, &names)
      else { return false }
    }
    let children = (Array(expected.elements), Array(actual.elements))
    guard children.0.count == children.1.count else { return false }
    for (one, other) in zip(children.0, children.1) where !fits(one, other, &names) { return false }
    return !children.0.isEmpty || fits(expected.text, actual.text, &names)
  }

  private static func fits(_ expected: String, _ actual: String, _ names: inout [String: String]) -> Bool {
    guard expected.hasPrefix("$"), expected.count > 1 else { return expected == actual }
    let name = String(expected.dropFirst())
    if name == "any" { return true }
    if let bound = names[name] { return bound == actual }
    names[name] = actual
    return true
  }
}
