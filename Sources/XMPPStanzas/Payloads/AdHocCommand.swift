import XML

/// XEP-0050 (1.3.0): commands that clients show as menus.
public enum AdHocCommand {
  public enum Action: String, Sendable { case execute, cancel, prev, next, complete }

  public enum Status: String, Sendable { case executing, completed, canceled }

  /// What a requester wants: to begin, or to go on with a session.
  public struct Request: Sendable, Hashable {
    public var node: String
    public var sessionID: String?
    public var action: Action
    public var form: DataForm?

    /// Reads `<command/>`. Throws what the requester is to be told.
    public init(_ element: Element) throws(StanzaError) {
      guard let node = element["node"] else { throw StanzaError(.modify, .badRequest) }
      guard let action = element["action"].map(Action.init(rawValue:)) ?? .execute else {
        throw Fault.malformedAction.error()
      }
      self.node = node
      self.action = action
      sessionID = element["sessionid"]
      guard let form = element.child("x", Namespace.dataForms) else { return }
      guard let form = DataForm(form) else { throw Fault.badPayload.error("The form has no known type.") }
      self.form = form
    }
  }

  /// What may be done next (section 4.2); to cancel is always allowed.
  public struct Actions: Sendable, Hashable {
    /// Of `prev`, `next` and `complete`.
    public var allowed: [Action]
    /// What `execute` stands for.
    public var standard: Action

    public init(_ allowed: [Action], standard: Action) {
      self.allowed = allowed
      self.standard = standard
    }
  }

  public struct Note: Sendable, Hashable {
    public enum Kind: String, Sendable { case info, warn, error }
    public var kind: Kind
    public var text: String

    public init(_ kind: Kind, _ text: String) {
      self.kind = kind
      self.text = text
    }
  }

  /// What the requester is told.
  public struct Answer: Sendable, Hashable {
    public var node: String
    public var sessionID: String
    public var status: Status
    public var actions: Actions?
    public var notes: [Note]
    public var form: DataForm?

    public init(
      node: String, sessionID: String, _ status: Status, actions: Actions? = nil, notes: [Note] = [],
      form: DataForm? = nil
    ) {
      self.node = node
      self.sessionID = sessionID
      self.status = status
      self.actions = actions
      self.notes = notes
      self.form = form
    }

    public var element: Element {
      var command = Element(
        "command", Namespace.commands,
        [("node", node), ("sessionid", sessionID), ("status", status.rawValue)])
      if let actions {
        command.append(
          Element(
            "actions", Namespace.commands, [("execute", actions.standard.rawValue)],
            actions.allowed.map { Element($0.rawValue, Namespace.commands) }))
      }
      for note in notes {
        command.append(Element("note", Namespace.commands, [("type", note.kind.rawValue)], text: note.text))
      }
      if let form { command.append(form.element) }
      return command
    }
  }

  /// Why a request is refused (section 4.4), beside what every request may be refused for.
  public enum Fault: String, Sendable {
    case malformedAction = "malformed-action"
    case badAction = "bad-action"
    case badPayload = "bad-payload"
    case badSessionID = "bad-sessionid"
    case sessionExpired = "session-expired"

    public func error(_ text: String? = nil) -> StanzaError {
      var error =
        self == .sessionExpired ? StanzaError(.cancel, .notAllowed, text) : StanzaError(.modify, .badRequest, text)
      error.detail = StanzaError.Detail(rawValue, Namespace.commands)
      return error
    }
  }
}
