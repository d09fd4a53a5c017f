import Testing

@testable import BotKit

@Suite("The fields of a command's form")
struct FieldTests {
  private func fault(_ line: String) -> String? {
    do throws(FieldFault) {
      _ = try CommandField(line: line)
      return nil
    } catch {
      return error.description
    }
  }

  private func unfit(_ field: CommandField, _ given: String...) -> String? {
    do {
      _ = try field.value(of: given)
      return nil
    } catch {
      return error.text
    }
  }

  @Test("a field line reads as name, kind, what is required, the default and the label")
  func lines() throws {
    #expect(try CommandField(line: "version text") == CommandField("version"))
    #expect(
      try CommandField(line: "service choice web|db required \"Which service\"")
        == CommandField("service", .choice(["web", "db"]), label: "Which service", required: true))
    #expect(
      try CommandField(line: "force boolean default=yes Force")
        == CommandField("force", .boolean, label: "Force", standard: "yes"))
    #expect(
      try CommandField(line: "where choice 'east coast|west coast' default='east coast'")
        == CommandField("where", .choice(["east coast", "west coast"]), standard: "east coast"))
    #expect(try CommandField(line: "owner jid required").kind == .jid)
    #expect(try CommandField(line: "notes lines").kind == .lines)
    #expect(try CommandField(line: "rest words").kind == .words)
  }

  @Test("a wrong field line says what is wrong and what to write instead")
  func faults() {
    #expect(fault("") == "it is empty: write it as service choice web|db required \"Which service\"")
    #expect(fault("service") == "service has no kind: write one of text, lines, words, boolean, jid, choice after it")
    #expect(fault("service txt") == "service: “txt” is no kind: did you mean text?")
    #expect(
      fault("service number")
        == "service: “number” is no kind: the kinds are text, lines, words, boolean, jid, choice")
    #expect(fault("a/b text") == "“a/b” is no name: use letters, digits, - and _, at most 64")
    #expect(fault("s choice web") == "s: a choice has two values or more: write them as choice web|db|cache")
    #expect(fault("s choice web | db") == "s: a choice has two values or more: write them as choice web|db|cache")
    #expect(fault("s choice web|web") == "s: a choice has two values or more: write them as choice web|db|cache")
    #expect(fault("s text Which service") == "s has two labels, “Which” and “service”: write the label in quotes")
    #expect(fault("s text \"Which") == "a \" has no partner: close it")
    #expect(
      fault("s choice a|b default=c") == "s: the default does not fit: s: choose one of a, b.: choose another")
  }

  static let usages: [(usage: String?, fields: [CommandField])] = [
    (nil, []), ("deploy", []),
    (
      "deploy SERVICE [VERSION]",
      [CommandField("service", label: "Service", required: true), CommandField("version", label: "Version")]
    ),
    ("<file_name>", [CommandField("file_name", label: "File name", required: true)]),
    ("deploy on|off", [CommandField("choice", .choice(["on", "off"]), label: "on / off", required: true)]),
    ("deploy [a|b|c]", [CommandField("choice", .choice(["a", "b", "c"]), label: "a / b / c")]),
    ("deploy TEXT…", [CommandField("text", .words, label: "Text", required: true)]),
    ("deploy [ARGS...]", [CommandField("args", .words, label: "Args")]),
    ("deploy [ARGS]…", [CommandField("args", .words, label: "Args")]),
    ("deploy FILE ...", [CommandField("file", .words, label: "File", required: true)]),
    (
      "deploy A [B [C]]",
      [
        CommandField("a", label: "A", required: true), CommandField("b", label: "B"), CommandField("c", label: "C"),
      ]
    ),
    (
      "deploy HOST HOST",
      [
        CommandField("host", label: "Host", required: true), CommandField("host-2", label: "Host", required: true),
      ]
    ),
    ("deploy [-n COUNT]", [CommandField("arguments", .words, label: "Arguments, as in: deploy [-n COUNT]")]),
    ("deploy [A", [CommandField("arguments", .words, label: "Arguments, as in: deploy [A")]),
    ("deploy a | b", [CommandField("arguments", .words, label: "Arguments, as in: deploy a | b")]),
  ]

  @Test("a usage says which fields there are", arguments: usages)
  func usage(_ usage: (usage: String?, fields: [CommandField])) {
    #expect(UsageFields.fields(of: usage.usage, command: "deploy") == usage.fields)
  }

  @Test("a value that does not fit is sent back with a sentence")
  func values() throws {
    #expect(unfit(CommandField("s", label: "Service", required: true)) == "Service: fill this in.")
    #expect(unfit(CommandField("s", label: "Service", required: true), "") == "Service: fill this in.")
    #expect(unfit(CommandField("s"), "one", "two") == "s: give one value, in one line.")
    #expect(unfit(CommandField("s"), "one\ntwo") == "s: give one value, in one line.")
    #expect(unfit(CommandField("s", .choice(["a", "b"])), "c") == "s: choose one of a, b.")
    // Canonically equivalent is not the same.
    #expect(unfit(CommandField("s", .choice(["\u{E9}", "b"])), "e\u{301}") != nil)
    #expect(unfit(CommandField("s", .boolean), "maybe") == "s: it is yes or no.")
    for wrong in ["a@b@c", "bob", "@example.org", "a b@example.org"] {
      #expect(
        unfit(CommandField("s", .jid), wrong) == "s: that is no address; write it as name@example.org.", "\(wrong)")
    }
    #expect(unfit(CommandField("s", .jid), "a@example.org", "b@example.org") == "s: give one value, in one line.")
    #expect(try CommandField("s", .jid).value(of: ["Alice@EXAMPLE.org/x"]) == "alice@example.org/x")
    #expect(try CommandField("s", .boolean).value(of: []) == "no")
    #expect(try CommandField("s", .boolean).value(of: ["true"]) == "yes")
    #expect(try CommandField("s", .lines).value(of: ["one", "", "two"]) == "one\n\ntwo")
    #expect(try CommandField("s", standard: "x").value(of: []) == "x")
    #expect(try CommandField("s").value(of: [""]) == nil)
  }
}

@Suite("From a form to the words of a chat")
struct CommandFormTests {
  private struct Taker: WaitingCommand {
    let takesText: Bool
    func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand { Abandonable(events) }
  }

  private func form(_ fields: [CommandField], takesText: Bool = false) -> CommandForm {
    CommandForm(
      Command(CommandDescription(name: "deploy", fields: fields), Taker(takesText: takesText), origin: "test"))
  }

  private func text(_ form: CommandForm, _ entries: (String, [String])...) throws(FormFault) -> String {
    try form.text(entries.map { FormEntry($0.0, $0.1) })
  }

  private func fault(_ form: CommandForm, _ entries: [FormEntry]) -> FormFault? {
    do throws(FormFault) {
      _ = try form.text(entries)
      return nil
    } catch {
      return error
    }
  }

  @Test("what was left out at the end is left out; in between it keeps its place")
  func gaps() throws {
    let form = form([CommandField("a", required: true), CommandField("b"), CommandField("c")])
    #expect(try text(form, ("a", ["x"])) == "deploy x")
    #expect(try text(form, ("c", ["z"]), ("a", ["x"])) == "deploy x '' z")
    #expect(try text(form, ("FORM_TYPE", ["y"]), ("a", ["x"])) == "deploy x")
  }

  @Test("what would be split or unquoted in a chat is quoted; the words of several arguments are not")
  func quoting() throws {
    #expect(try text(form([CommandField("a")]), ("a", ["load balancer"])) == "deploy 'load balancer'")
    #expect(try text(form([CommandField("a")]), ("a", ["it's"])) == "deploy 'it'\\''s'")
    #expect(
      try text(form([CommandField("a", .words)]), ("a", ["-v one", "'two three'"])) == "deploy -v one\n'two three'")
    let loose = form([CommandField("a", .words, label: "Words")])
    #expect(
      fault(loose, [FormEntry("a", ["don't"])])
        == .unfit(["Words: A ' has no partner: close it, or write \\' for the character itself."]))
    // Where quotes mean nothing, they would be part of the text.
    #expect(try text(form([CommandField("a")], takesText: true), ("a", ["don't stop"])) == "deploy don't stop")
  }

  @Test("any argument comes out of a chat as it went into the form")
  func roundTrip() throws {
    let pieces = ["a", " ", "'", "\"", "\\", "\n", "$", "é", "\u{2003}", "|", "…"]
    var arguments = [""]
    var longest = [""]
    for _ in 0..<3 {
      longest = longest.flatMap { start in pieces.map { start + $0 } }
      arguments += longest
    }
    let text = arguments.map(Arguments.quoted).joined(separator: " ")
    #expect(try Arguments.split(text[...]) == arguments)
  }

  @Test("what is no answer to this form is refused before anything is looked at")
  func malformed() {
    let form = form([CommandField("a")])
    #expect(fault(form, [FormEntry("b", ["x"])]) == .malformed("Nobody asked for one of these fields."))
    #expect(fault(form, [FormEntry("a", ["x"]), FormEntry("a", ["y"])]) == .malformed("A field is there twice."))
    #expect(
      fault(form, (0..<10_000).map { FormEntry("f\($0)", ["x"]) }) == .malformed("That form has too many fields."))
    #expect(
      fault(form, [FormEntry("a", [String(repeating: "x", count: 70_000)])])
        == .malformed("That is too long: send less text."))
    #expect(
      fault(form, [FormEntry("a", Array(repeating: "", count: 70_000))])
        == .malformed("That is too long: send less text."))
  }

  @Test("each mistake has its sentence")
  func unfit() {
    let form = form([
      CommandField("a", label: "A", required: true), CommandField("b", .choice(["x", "y"]), label: "B"),
    ])
    #expect(fault(form, [FormEntry("b", ["z"])]) == .unfit(["A: fill this in.", "B: choose one of x, y."]))
  }
}
