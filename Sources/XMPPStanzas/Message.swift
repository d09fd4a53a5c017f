import JID
import XML

/// A message stanza (RFC 6121 section 5.2) with the payloads that the bot understands.
public struct Message: Sendable {
  public enum Kind: String, Sendable { case normal, chat, groupchat, headline, error }

  public var kind: Kind
  public var id: String?
  public var from: JID?
  public var to: JID?
  public var lang: String?
  public var body: String?
  public var subject: String?
  public var thread: String?
  public var error: StanzaError?
  /// When it was first sent, if it was held back on its way (XEP-0203).
  public var delay: Delay?
  /// All `<stanza-id/>` found; which of them to believe, OriginPolicy says (XEP-0359 section 5).
  public var stanzaIDs: [StanzaID] = []
  public var originID: String?
  /// The id of the message that this one corrects (XEP-0308).
  public var replaces: String?
  /// The id of the message that this one retracts (XEP-0424).
  public var retracts: String?
  /// The id of the message that this one answers (XEP-0461).
  public var replyTo: String?
  /// The emoji that this message puts at an earlier one (XEP-0444); a body beside them only says the same.
  public var reactions: Reactions?
  public var occupantID: String?
  public var chatState: ChatState?
  public var receipt: Receipt?
  public var marker: Marker?
  /// Nobody need keep it for later (`<no-store/>`, XEP-0334 section 4.2); written only.
  public var isTransient = false
  public var nickname: String?
  /// The address of a file (XEP-0066); written only. Clients show the file when the body says the same and nothing else.
  public var link: String?
  /// The encryption's namespace, when the text is for other eyes (XEP-0380).
  public var encryption: String?
  /// It only sets up encryption: there is no text in it, for nobody.
  public var isKeyExchange = false
  /// An invitation, or a private word within a room (XEP-0045): the sender's address names no person.
  public var concernsRoom = false
  /// It only carries something else; what that is, OriginPolicy reads once it knows that the sender may say it.
  public var wrapper: Wrapper?

  /// What a message carries that is none itself. Indirect, since hardly any message has one.
  public indirect enum Wrapper: Sendable, Hashable {
    /// `<sent/>` or `<received/>` (XEP-0280); see `Carbon`.
    case carbon(Element)
    /// `<result/>` (XEP-0313); see `ArchiveResult`.
    case archiveResult(Element)
    /// News of a node (XEP-0060).
    case publishEvent
  }

  /// A message of our own.
  public init(_ kind: Kind, to: JID, id: String, body: String? = nil) {
    self.kind = kind
    self.to = to
    self.id = id
    self.body = body
  }

  public init(_ element: Element) throws(StanzaFault) {
    // A type that is not known is a normal message (RFC 6121 section 5.2.2).
    kind = element["type"].flatMap(Kind.init(rawValue:)) ?? .normal
    id = element["id"]
    from = try element.address("from")
    to = try element.address("to")
    lang = element.lang
    for case .element(let child) in element.children { read(child) }
    if let body, encryption == nil { encryption = Encryption.kind(of: body) }
    if kind == .error { error = StanzaError(errorStanza: element) }
  }

  private mutating func read(_ child: Element) {
    if child.namespace == Namespace.client {
      switch child.name {
      // Bodies in further languages are translations: the first one counts.
      case "body": if body == nil { body = child.text }
      case "subject": if subject == nil { subject = child.text }
      case "thread": thread = child.text
      default: break
      }
      return
    }
    // Names first: they are short, and hardly two of them are equal.
    switch (child.name, child.namespace) {
    case ("delay", Namespace.delay): delay = delay ?? Delay(child)
    case ("stanza-id", Namespace.stanzaID): if let id = StanzaID(child) { stanzaIDs.append(id) }
    case ("origin-id", Namespace.stanzaID): originID = child["id"]
    case ("replace", Namespace.correct): replaces = child["id"]
    case ("retract", Namespace.retract): retracts = child["id"]
    case ("reply", Namespace.reply): replyTo = child["id"]
    case ("reactions", Namespace.reactions): reactions = reactions ?? Reactions(child)
    case ("occupant-id", Namespace.occupantID): occupantID = child["id"]
    case ("nick", Namespace.nickname): nickname = child.text
    case ("encryption", _), ("encrypted", _), ("openpgp", _): readEncryption(child)
    case ("sent", Namespace.carbons), ("received", Namespace.carbons): wrapper = .carbon(child)
    case ("result", Namespace.archive): wrapper = .archiveResult(child)
    case ("event", Namespace.pubsubEvent): wrapper = .publishEvent
    case ("x", Namespace.mucUser): concernsRoom = true
    case ("x", _): readEncryption(child)
    case (_, Namespace.receipts): receipt = receipt ?? Receipt(child)
    case (_, Namespace.markers): marker = marker ?? Marker(child)
    case (let name, Namespace.chatStates): chatState = ChatState(rawValue: name)
    default: break
    }
  }

  private mutating func readEncryption(_ child: Element) {
    guard let (namespace, hasText) = Encryption.kind(of: child) else { return }
    if !hasText { isKeyExchange = true }
    encryption = encryption ?? namespace
  }

  public var element: Element {
    var message = Element(
      "message", Namespace.client,
      [("type", kind == .normal ? nil : kind.rawValue), ("to", to?.description), ("id", id)])
    if let lang { message.lang = lang }
    if let subject { message.append(Element("subject", Namespace.client, text: subject)) }
    if let body { message.append(Element("body", Namespace.client, text: body)) }
    if let thread { message.append(Element("thread", Namespace.client, text: thread)) }
    if let originID { message.append(Element("origin-id", Namespace.stanzaID, [("id", originID)])) }
    if let replaces { message.append(Element("replace", Namespace.correct, [("id", replaces)])) }
    if let replyTo, let to {
      // In a room it would name a nickname, which may be another's by now; the room's id is enough.
      let author = kind == .groupchat ? nil : to.description
      message.append(Element("reply", Namespace.reply, [("to", author), ("id", replyTo)]))
    }
    if let reactions {
      message.append(reactions.element)
      message.append(Element("store", Namespace.hints))
    }
    if let link {
      message.append(
        Element("x", Namespace.outOfBand, [], [Element("url", Namespace.outOfBand, text: link)]))
    }
    if let delay, let element = delay.element { message.append(element) }
    if let receipt { message.append(receipt.element) }
    if let marker { message.append(marker.element) }
    if let chatState { message.append(Element(chatState.rawValue, Namespace.chatStates)) }
    if concernsRoom { message.append(RoomJoin.privateMark) }
    if isTransient { message.append(Element("no-store", Namespace.hints)) }
    return message
  }
}
