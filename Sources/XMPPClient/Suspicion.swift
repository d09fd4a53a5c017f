import XML

/// Which stanza the stream may have died of: each time the first one that the server did not take. Pure.
///
/// A line that is cut again and again looks the same. So the last try of a session that is resumed is a trial: first the
/// server shows that it listens, then the suspect goes alone.
public struct Suspicion {
  /// So many deaths are no chance.
  public static let limit = 3

  private var suspect: String?
  private var isMessage = false
  private var deaths = 0

  /// The server has taken something: the messages of these tokens, if any, and what came before them.
  mutating func acknowledged(_ tokens: [String]) {
    // Before a message that is sent again the server may get what was never suspected.
    if !tokens.isEmpty || !isMessage { self = Suspicion() }
  }

  /// One more death would be too many: this stanza is to be tried.
  func isStrong(_ element: Element, token: String?) -> Bool {
    deaths >= Self.limit - 1 && suspect == Self.name(element, token)
  }

  /// The stream died, and this stanza is the first that the server does not have. Whether it has happened too often.
  /// `proof`: the server listened, and nothing else was on its way.
  mutating func condemns(_ element: Element, token: String?, proof: Bool) -> Bool {
    let name = Self.name(element, token)
    deaths = suspect == name ? deaths + 1 : 1
    suspect = name
    isMessage = token != nil
    return proof && deaths >= Self.limit
  }

  private static func name(_ element: Element, _ token: String?) -> String { token ?? element["id"] ?? element.xml }
}

/// Whether messages go one at a time, each when the server has all before it. So it is after streams that died one after
/// the other and could not be resumed: among many messages that are on their way, the first is not the one it was. Pure.
struct Caution {
  private static let limit = Suspicion.limit - 1
  /// After so many that did no harm, what comes is taken for harmless.
  private static let enough = 50

  private var deaths = 0
  private var hasDied = false
  private var confirmed = 0

  var isOn: Bool { deaths >= Self.limit }

  /// The stream died. `isInDoubt`: something was on its way.
  mutating func died(isInDoubt: Bool) {
    if isInDoubt { deaths += 1 }
    hasDied = true
  }

  /// A session begins that goes on with no earlier one.
  mutating func begin() {
    if !hasDied { deaths = 0 }
    hasDied = false
    confirmed = 0
  }

  /// The server has so many messages more.
  mutating func confirm(_ count: Int) {
    confirmed += count
    if confirmed >= Self.enough { self = Caution() }
  }
}

/// How far the trial of a suspect has come.
enum Trial {
  /// The server is asked whether it listens.
  case asking
  /// The suspect is sent, and nothing else.
  case alone
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
