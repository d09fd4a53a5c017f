import Testing
import XML
import XMPPStanzas

@Suite("Data forms and ad-hoc commands")
struct FormTests {
  private func request(_ xml: String) throws -> AdHocCommand.Request {
    try AdHocCommand.Request(Element(parsing: xml))
  }

  private func fault(_ xml: String) throws -> StanzaError? {
    let element = try Element(parsing: xml)
    do {
      _ = try AdHocCommand.Request(element)
      return nil
    } catch {
      return error
    }
  }

  @Test("a form reads as it was written, and is written as it was read")
  func form() throws {
    let xml = """
      <x xmlns='jabber:x:data' type='form'><title>Deploy</title><instructions>Choose.</instructions>
      <field var='s' type='list-single' label='Service'><required/><value>web</value>
      <option label='Web'><value>web</value></option><option><value>db</value></option></field>
      <field type='fixed'><value>Careful</value></field>
      <field var='notes' type='text-multi'><value>one</value><value>two</value></field></x>
      """.replacing("\n", with: "")
    let form = try #require(DataForm(Element(parsing: xml)))
    #expect(form.kind == .form && form.title == "Deploy" && form.instructions == "Choose.")
    #expect(form.fields.map(\.name) == ["s", nil, "notes"])
    #expect(form.fields[0].isRequired && form.fields[0].options == [.init("web", label: "Web"), .init("db")])
    #expect(form.fields[2].values == ["one", "two"])
    #expect(try DataForm(Element(parsing: form.element.xml)) == form)
  }

  @Test("what is no form, or of no known type, is none")
  func noForm() throws {
    #expect(try DataForm(Element(parsing: "<x xmlns='jabber:x:data'/>")) == nil)
    #expect(try DataForm(Element(parsing: "<x xmlns='jabber:x:data' type='other'/>")) == nil)
    #expect(try DataForm(Element(parsing: "<x xmlns='jabber:x:oob' type='submit'/>")) == nil)
  }

  @Test("a command's action is execute unless it says another; an unknown one is malformed")
  func action() throws {
    #expect(try request("<command xmlns='http://jabber.org/protocol/commands' node='n'/>").action == .execute)
    let next = try request(
      "<command xmlns='http://jabber.org/protocol/commands' node='n' action='prev' sessionid='s' status='completed'/>")
    #expect(next.action == .prev && next.sessionID == "s" && next.form == nil)
    let error = try fault("<command xmlns='http://jabber.org/protocol/commands' node='n' action='dance'/>")
    #expect(error == AdHocCommand.Fault.malformedAction.error())
    #expect(try fault("<command xmlns='http://jabber.org/protocol/commands'/>")?.condition == .badRequest)
    #expect(
      try fault(
        "<command xmlns='http://jabber.org/protocol/commands' node='n'><x xmlns='jabber:x:data' type='?'/></command>")?
        .detail?.name == "bad-payload")
  }

  @Test("a fault names itself beside the general condition")
  func detail() {
    let error = AdHocCommand.Fault.sessionExpired.error("gone").element
    #expect(error.elements.map(\.name) == ["not-allowed", "text", "session-expired"])
    #expect(error.elements.last?.namespace == Namespace.commands)
  }
}
