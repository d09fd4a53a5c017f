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

/// Whether what the server sends breaks the stream again and again at the same place. Pure.
struct Unreadable {
  private var place: UInt32?
  private var times = 0

  /// It broke at this place; nil: at one that was passed before. Whether it has happened too often.
  mutating func recurs(at new: UInt32?) -> Bool {
    guard let new else {
      self = Unreadable()
      return false
    }
    times = place == new ? times + 1 : 1
    place = new
    guard times >= Suspicion.limit else { return false }
    self = Unreadable()
    return true
  }
}
