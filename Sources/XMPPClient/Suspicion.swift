import XML

/// Which stanza the stream may have died of: each time the first one that the server did not take. Pure.
public struct Suspicion {
  /// So many deaths are no chance.
  public static let limit = 3

  private var suspect: String?
  private var deaths = 0

  /// The stream died, and this stanza is the first that the server does not have. Whether it has happened too often.
  mutating func condemns(_ element: Element, token: String?) -> Bool {
    let name = token ?? element["id"] ?? element.xml
    deaths = suspect == name ? deaths + 1 : 1
    suspect = name
    return deaths >= Self.limit
  }
}
