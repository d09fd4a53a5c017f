import BotKit
import XMPPStanzas

/// What a contact's client shows of a session: a form, a word in between, or the end.
struct MenuPage {
  var status: AdHocCommand.Status
  var actions: AdHocCommand.Actions?
  var notes: [AdHocCommand.Note] = []
  var form: DataForm?

  /// Bytes of XML. What was filled in is shown again up to this: beside it the form itself needs room in a stanza.
  private static let mostEntries = 4_096

  func answer(node: String, sessionID: String) -> AdHocCommand.Answer {
    AdHocCommand.Answer(
      node: node, sessionID: sessionID, status, actions: actions, notes: notes, form: form)
  }

  /// A command's own form; `faults`: why it is shown again, with what was filled in.
  init(_ form: CommandForm, faults: [String], entries: [FormEntry]) {
    self.init(form.title, nil, form.fields, faults, entries)
    actions = .init([.complete], standard: .complete)
  }

  /// What a running command asks.
  init(_ question: Question, faults: [String], entries: [FormEntry]) {
    self.init(question.title, question.instructions, question.fields, faults, entries)
    let onwards = question.isLast ? AdHocCommand.Action.complete : .next
    actions = .init(question.mayGoBack ? [.prev, onwards] : [onwards], standard: onwards)
  }

  private init(
    _ title: String, _ instructions: String?, _ fields: [CommandField], _ faults: [String], _ entries: [FormEntry]
  ) {
    status = .executing
    notes = faults.map { .init(.error, $0) }
    let filled = DataForm(.submit, fields: entries.map { DataForm.Field($0.name, values: $0.values) })
    let isShort = filled.element.byteCount() <= Self.mostEntries
    if !isShort { notes.append(.init(.info, "What you filled in is too long to be shown again.")) }
    let given = Dictionary(isShort ? entries.map { ($0.name, $0.values) } : []) { first, _ in first }
    form = DataForm(
      .form, title: title, instructions: instructions, fields: fields.map { DataForm.Field($0, given: given[$0.name]) })
  }

  /// The command takes its time.
  static func stillRunning(_ name: String) -> MenuPage {
    var page = MenuPage(
      note: .info, "\(name) still runs; its answer comes as a message. Look again, or cancel to stop it.")
    page.status = .executing
    page.actions = .init([.next, .complete], standard: .next)
    return page
  }

  /// What the command says, or has said, is found elsewhere.
  static let asMessage = MenuPage(note: .info, "The answer comes as a message.")

  static let canceled: MenuPage = {
    var page = MenuPage(status: .canceled)
    page.notes = []
    return page
  }()

  /// The end, with what the command says: a short text as a note, several lines as a form's. A failure is always a note,
  /// since XEP-0050 (section 3.5) wants one.
  init(answer text: String, failed: Bool, title: String) {
    let text = Self.withoutFences(text)
    guard !failed, text.contains(where: \.isNewline) else {
      self.init(note: failed ? .error : .info, text)
      return
    }
    self.init(status: .completed)
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { String($0) }
    form = DataForm(
      .result, title: title, fields: [DataForm.Field("answer", .textMulti, label: "Answer", values: lines)])
  }

  /// A block's fences (XEP-0393) mean nothing in a form.
  private static func withoutFences(_ text: String) -> String {
    let fence = "```"
    guard text.hasPrefix(fence + "\n"), text.hasSuffix("\n" + fence), text.utf8.count > 8 else { return text }
    return String(text.dropFirst(4).dropLast(4))
  }

  /// The end, or what `status` is set to then, with a word about it.
  init(note kind: AdHocCommand.Note.Kind, _ text: String) {
    self.init(status: .completed)
    notes = [.init(kind, text)]
  }

  private init(status: AdHocCommand.Status) { self.status = status }
}

extension DataForm.Field {
  /// A command's field; `given`: what was filled in before.
  init(_ field: CommandField, given: [String]?) {
    let kind: Kind =
      switch field.kind {
      case .text: .textSingle
      case .lines, .words: .textMulti
      case .choice: .listSingle
      case .boolean: .boolean
      case .jid: .jidSingle
      }
    self.init(field.name, kind, label: field.label, values: given ?? [])
    isRequired = field.isRequired
    if case .choice(let choices) = field.kind { options = choices.map { DataForm.Option($0) } }
    if given == nil, let standard = field.standard {
      values = kind == .boolean ? [standard == "yes" ? "1" : "0"] : [standard]
    }
  }
}

extension DataForm {
  /// What was filled in. A field without a name is none that anybody asked for, only text between others.
  var entries: [FormEntry] {
    fields.compactMap { field in field.name.map { FormEntry($0, field.values) } }
  }
}
