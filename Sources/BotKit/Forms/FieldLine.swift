/// A `field` line of a configuration or a script's header:
///
///     NAME KIND [required] [default=VALUE] ["LABEL"]
///
/// with the kinds `text`, `lines`, `words`, `boolean`, `jid`, and `choice A|B|C`. Words are split and quoted as in a shell.
extension CommandField {
  static let kinds = ["text", "lines", "words", "boolean", "jid", "choice"]
  /// What a whole line looks like, for messages.
  static let example = "service choice web|db required \"Which service\""

  public init(line: String) throws(FieldFault) {
    var words = try Self.words(line)[...]
    guard let name = words.popFirst(), !name.isEmpty else {
      throw FieldFault("it is empty", remedy: "write it as \(Self.example)")
    }
    guard Self.isName(name) else {
      throw FieldFault("“\(name)” is no name", remedy: "use letters, digits, - and _, at most 64")
    }
    guard let kind = words.popFirst() else {
      throw FieldFault("\(name) has no kind", remedy: "write one of \(Self.kinds.joined(separator: ", ")) after it")
    }
    self.init(name, try Self.kind(kind, name, &words))
    var isLabelled = false
    for word in words {
      if word == "required" {
        isRequired = true
      } else if word.hasPrefix("default=") {
        standard = String(word.dropFirst("default=".count))
      } else if isLabelled {
        throw FieldFault("\(name) has two labels, “\(label)” and “\(word)”", remedy: "write the label in quotes")
      } else {
        label = word
        isLabelled = true
      }
    }
    if let standard { self.standard = try Self.checked(standard, self) }
  }

  /// Why fields cannot stand in one form; nil when they can.
  public static func fault(in fields: [CommandField]) -> FieldFault? {
    if fields.count > limit {
      return FieldFault("there are \(fields.count) fields", remedy: "leave at most \(limit)")
    }
    var names: Set<String> = []
    for field in fields where !names.insert(field.name).inserted {
      return FieldFault("there are two fields with the name \(field.name)", remedy: "rename one of them")
    }
    return nil
  }

  private static func words(_ line: String) throws(FieldFault) -> [String] {
    do {
      return try Arguments.split(line[...])
    } catch {
      throw FieldFault("a \(error.quote) has no partner", remedy: "close it")
    }
  }

  private static func kind(_ word: String, _ name: String, _ rest: inout ArraySlice<String>) throws(FieldFault) -> Kind
  {
    switch word {
    case "text": return .text
    case "lines": return .lines
    case "words": return .words
    case "boolean": return .boolean
    case "jid": return .jid
    case "choice":
      let choices = (rest.popFirst() ?? "").split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
      guard choices.count > 1, !choices.contains(""), Set(choices).count == choices.count else {
        throw FieldFault("\(name): a choice has two values or more", remedy: "write them as choice web|db|cache")
      }
      return .choice(choices)
    default:
      let nearest = Suggestion.nearest(to: word, among: kinds).map { "did you mean \($0)?" }
      throw FieldFault(
        "\(name): “\(word)” is no kind", remedy: nearest ?? "the kinds are \(kinds.joined(separator: ", "))")
    }
  }

  private static func checked(_ standard: String, _ field: CommandField) throws(FieldFault) -> String {
    var optional = field
    optional.isRequired = false
    do {
      return try optional.value(of: [standard]) ?? standard
    } catch {
      throw FieldFault("\(field.name): the default does not fit: \(error.text)", remedy: "choose another")
    }
  }

  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64
      && text.unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-" || $0 == "_"
      }
  }
}

/// What is wrong with a `field` line, and what to write instead.
public struct FieldFault: Error, Sendable, Hashable, CustomStringConvertible {
  public let problem: String
  public let remedy: String

  init(_ problem: String, remedy: String) {
    self.problem = problem
    self.remedy = remedy
  }

  public var description: String { "\(problem): \(remedy)" }
}
