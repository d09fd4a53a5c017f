/// One thing that a command wants to know: a field of its form, and one of its arguments.
public struct CommandField: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// One line.
    case text
    /// Several lines, one argument.
    case lines
    /// One of these.
    case choice([String])
    /// `yes` or `no`.
    case boolean
    /// An address, bare or full; normalised before the command sees it.
    case jid
    /// Several arguments, written as in a chat: split at white space, quotes resolved.
    case words
  }

  /// Letters, digits, `-` and `_`.
  public var name: String
  /// What a form shows beside it.
  public var label: String
  public var kind: Kind
  public var isRequired: Bool
  /// What a form proposes, and what holds where nothing is filled in.
  public var standard: String?

  /// - Parameter label: the name, if there is none.
  public init(
    _ name: String, _ kind: Kind = .text, label: String? = nil, required: Bool = false, standard: String? = nil
  ) {
    self.name = name
    self.label = label ?? name
    self.kind = kind
    isRequired = required
    self.standard = standard
  }

  /// More than this nobody fills in.
  public static let limit = 32
}
