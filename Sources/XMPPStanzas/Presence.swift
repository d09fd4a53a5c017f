import JID
import XML

/// A presence stanza (RFC 6121 section 4.7).
public struct Presence: Sendable {
  public enum Kind: String, Sendable {
    case available, unavailable, subscribe, subscribed, unsubscribe, unsubscribed, probe, error
  }

  public var kind: Kind
  public var from: JID?
  public var to: JID?
  /// What kind of there it is: away, chat, dnd or xa (RFC 6121 section 4.7.2.1); read only.
  public var show: String?
  public var status: String?
  /// The nickname that a contact goes by (XEP-0172); for show only.
  public var nickname: String?
  public var priority: Int8 = 0
  public var caps: Caps?
  /// What contacts that know no PEP are told about our avatar (XEP-0153); written only.
  public var photo: VCardPhoto?
  /// We ask to enter the room that it goes to (XEP-0045); written only.
  public var join: RoomJoin?
  /// A room tells of an occupant (XEP-0045); read only.
  public var room: RoomUser?
  /// What stays the same when that occupant changes nickname (XEP-0421); read only.
  public var occupantID: String?
  /// Why it came back; read only.
  public var error: StanzaError?

  public init(_ kind: Kind, to: JID? = nil) {
    self.kind = kind
    self.to = to
  }

  public init(_ element: Element) throws(StanzaFault) {
    if let type = element["type"] {
      guard let kind = Kind(rawValue: type), kind != .available else {
        throw StanzaFault("<presence/> of type '\(type)'")
      }
      self.kind = kind
    } else {
      kind = .available
    }
    from = try element.address("from")
    to = try element.address("to")
    for case .element(let child) in element.children {
      switch (child.name, child.namespace) {
      case ("show", Namespace.client): show = child.text
      case ("status", Namespace.client): status = child.text
      case ("priority", Namespace.client): priority = Int8(child.text) ?? 0
      case ("nick", Namespace.nickname): nickname = child.text
      case ("x", Namespace.mucUser): room = room ?? RoomUser(child)
      case ("occupant-id", Namespace.occupantID): occupantID = child["id"]
      default: break
      }
    }
    if kind == .error { error = StanzaError(errorStanza: element) }
  }

  public var element: Element {
    var presence = Element(
      "presence", Namespace.client,
      [("type", kind == .available ? nil : kind.rawValue), ("to", to?.description)])
    if let status { presence.append(Element("status", Namespace.client, text: status)) }
    if priority != 0 { presence.append(Element("priority", Namespace.client, text: String(priority))) }
    if let nickname { presence.append(Element("nick", Namespace.nickname, text: nickname)) }
    if let caps { presence.append(caps.element) }
    if let photo { presence.append(photo.element) }
    if let join { presence.append(join.element) }
    return presence
  }
}
