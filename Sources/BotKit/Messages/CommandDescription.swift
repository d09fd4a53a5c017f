/// What is known about a command without running it.
public struct CommandDescription: Sendable, Hashable {
  /// The word that contacts type, in lower case: letters, digits, `-` and `_`, at most 64 bytes.
  public var name: String
  /// One line for `help`.
  public var description: String
  /// The form of its arguments, beginning with the name: `deploy SERVICE [VERSION]`.
  public var usage: String?
  /// Who may use it: any of these.
  public var allow: [AccessRule]
  /// Where it may be used.
  public var places: Places
  /// It may run again from the beginning when the process ended in its midst.
  public var reruns: Bool
  /// What its form asks for, in the order of its arguments; where there are none, the form is made of `usage`.
  public var fields: [CommandField]

  public init(
    name: String, description: String = "", usage: String? = nil, allow: [AccessRule] = AccessRule.admins,
    places: Places = .chat, reruns: Bool = false, fields: [CommandField] = []
  ) {
    self.name = name
    self.description = description
    self.usage = usage
    self.allow = allow
    self.places = places
    self.reruns = reruns
    self.fields = fields
  }

  /// Why `name` cannot name a command; nil when it can.
  static func fault(inName name: String) -> String? {
    guard let first = name.unicodeScalars.first else { return "the name is empty" }
    if name.utf8.count > 64 { return "the name is longer than 64 bytes" }
    if name.lowercased() != name { return "the name must be in lower case" }
    let inside = name.unicodeScalars.allSatisfy { isLetterOrDigit($0) || $0 == "-" || $0 == "_" }
    guard inside, isLetterOrDigit(first) else {
      return "a name has only letters, digits, - and _, and begins with a letter or digit"
    }
    return nil
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    case _ where scalar.isASCII: false
    default:
      switch scalar.properties.generalCategory {
      case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
        .spacingMark, .decimalNumber:
        true
      default: false
      }
    }
  }
}
