import Daemon
import Glibc
import XML
import XMPPStanzas

/// What a server asks of somebody who wants an account: single fields, or a data form (XEP-0077 sections 3.1 and 4,
/// XEP-0004). What is not known is asked on the terminal; a captcha is shown by its address (XEP-0158).
struct RegistrationForm {
  private let query: Element

  init(_ query: Element) {
    self.query = query
  }

  /// The `<query/>` that answers it.
  func filled(username: String, password: String) throws(ControlFailure) -> Element {
    let known = ["username": username, "password": password]
    if let form = query.child("x", Namespace.dataForms) {
      return Element("query", Namespace.register, [], [try Self.fill(form, known)])
    }
    var answer = Element("query", Namespace.register)
    for field in query.elements where field.namespace == Namespace.register && field.name != "instructions" {
      let value: String
      if let text = known[field.name] { value = text } else { value = try Self.ask(field.name) }
      answer.append(Element(field.name, Namespace.register, text: value))
    }
    return answer
  }

  private static func fill(_ form: Element, _ known: [String: String]) throws(ControlFailure) -> Element {
    var answer = Element("x", Namespace.dataForms, [("type", "submit")])
    var instructions = form.child("instructions", Namespace.dataForms)?.text
    for field in form.elements where field.isNamed("field", Namespace.dataForms) {
      guard let name = field["var"], field["type"] != "fixed" else { continue }
      let proposed = field.child("value", Namespace.dataForms)?.text
      let isRequired = field.child("required", Namespace.dataForms) != nil
      let value: String
      if let text = known[name] {
        value = text
      } else if field["type"] == "hidden" || (!isRequired && proposed != nil) {
        value = proposed ?? ""
      } else if isRequired {
        // Where nothing is asked, they only confuse.
        if let text = instructions { Terminal.complain("the server says: \(text)") }
        instructions = nil
        showMedia(field)
        value = try ask(field["label"] ?? name)
      } else {
        continue
      }
      answer.append(
        Element(
          "field", Namespace.dataForms, [("var", name)], [Element("value", Namespace.dataForms, text: value)]))
    }
    return answer
  }

  private static func showMedia(_ field: Element) {
    guard let media = field.elements.first(where: { $0.name == "media" }) else { return }
    for uri in media.elements where uri.name == "uri" && !uri.text.hasPrefix("cid:") {
      Terminal.complain("see \(uri.text)")
    }
  }

  private static func ask(_ question: String) throws(ControlFailure) -> String {
    guard isatty(STDIN_FILENO) == 1 else {
      throw ControlFailure(
        .failed,
        "the server asks '\(Terminal.safe(question))', which is not in the configuration; run this on a terminal")
    }
    print(Terminal.safe(question) + ": ", terminator: "")
    fflush(nil)
    guard let line = readLine() else { throw ControlFailure(.failed, "no answer was given") }
    return line
  }
}
