/// A command as a form: what to fill in, and the text that means the same in a chat.
public struct CommandForm: Sendable, Hashable {
  /// The command's name.
  public let name: String
  /// What people read.
  public let title: String
  /// None: there is nothing to ask.
  public let fields: [CommandField]
  /// The command takes arguments; else it takes text as it stands, where quotes would be part of it.
  private let takesArguments: Bool
  /// What the command called its question, where what is filled in answers one.
  private var asked: String?

  public init(_ command: Command) {
    let description = command.description
    name = description.name
    title = description.description.isEmpty ? description.name : description.description
    fields =
      description.fields.isEmpty
      ? UsageFields.fields(of: description.usage, command: description.name) : description.fields
    takesArguments = command.takesArguments
  }

  /// The form in which one of several `options` is chosen that the command `name` has offered; the text is the one chosen.
  /// `asked`: what the command calls its question.
  public init(choosing options: [String], asked: String, of name: String, title: String) {
    self.name = name
    self.title = title
    fields = [CommandField("choice", .choice(options), label: "Choose", required: true)]
    takesArguments = false
    self.asked = asked
  }

  /// What is said with these entries.
  public func filled(_ entries: [FormEntry]) throws(FormFault) -> FilledForm {
    let text = try text(entries)
    guard let asked, case .choice(let options)? = fields.first?.kind,
      let index = options.firstIndex(where: { $0.utf8.elementsEqual(text.utf8) })
    else { return FilledForm(name, text) }
    return FilledForm(name, text, choice: CommandRequest.Choice(number: index + 1, text: text, asked: asked))
  }

  /// The message that has the command do with these arguments what it would do if they were typed.
  func text(_ entries: [FormEntry]) throws(FormFault) -> String {
    let values = try fields.values(of: entries)
    if asked != nil { return values["choice"] ?? "" }
    var words = [name]
    // Of what was left out, only what others follow keeps its place.
    let last = fields.lastIndex { values[$0.name] != nil } ?? -1
    for field in fields[..<(last + 1)] {
      let value = values[field.name] ?? ""
      if case .words = field.kind {
        if takesArguments { try check(value, field) }
        words.append(value)
      } else {
        words.append(takesArguments ? Arguments.quoted(value) : value)
      }
    }
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  private func check(_ value: String, _ field: CommandField) throws(FormFault) {
    do {
      _ = try Arguments.split(value[...])
    } catch {
      throw .unfit(["\(field.label): \(Answers.unclosed(error.quote))"])
    }
  }
}

extension Arguments {
  /// A text that `split` makes `argument` of again.
  static func quoted(_ argument: String) -> String {
    let isPlain = argument.unicodeScalars.allSatisfy { !$0.isWhiteSpace && $0 != "'" && $0 != "\"" && $0 != "\\" }
    if isPlain, !argument.isEmpty { return argument }
    var quoted = "'".unicodeScalars
    for scalar in argument.unicodeScalars {
      quoted.append(contentsOf: scalar == "'" ? "'\\''".unicodeScalars : String.UnicodeScalarView([scalar]))
    }
    quoted.append("'")
    return String(quoted)
  }
}

extension Command {
  /// Its text is split into arguments, and quotes in it mean something.
  var takesArguments: Bool {
    switch action {
    case .immediate: false
    case .waiting(let command): !command.takesText
    }
  }
}
