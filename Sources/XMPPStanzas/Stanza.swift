import JID
import XML

/// The three kinds of stanza (RFC 6120 section 8.2), typed.
public enum Stanza: Sendable {
  case message(Message)
  case presence(Presence)
  case iq(IQ)

  /// Types a first-level element. Nil when it is no stanza at all.
  public init?(_ element: Element) throws(StanzaFault) {
    guard element.namespace == Namespace.client else { return nil }
    switch element.name {
    case "message": self = .message(try Message(element))
    case "presence": self = .presence(try Presence(element))
    case "iq": self = .iq(try IQ(element))
    default: return nil
    }
  }
}

/// Why a stanza can't be taken.
public struct StanzaFault: Error, Sendable, Hashable, CustomStringConvertible {
  public var description: String
  init(_ description: String) { self.description = description }
}

extension Element {
  /// The address that our server wrote into an attribute; nil when the attribute is absent.
  func address(_ attribute: String) throws(StanzaFault) -> JID? {
    guard let text = self[attribute] else { return nil }
    do {
      return try JID(received: text)
    } catch {
      throw StanzaFault("<\(name)/> with a malformed '\(attribute)' address: \(error)")
    }
  }
}
