import Archive
import JID
import XMPPStanzas

extension Message {
  /// The stanza of a row of the outbox. `delayedBy`: our account, where it goes later than it was written (XEP-0203).
  init(_ row: NewMessage, id: String, to recipient: JID, delayedBy account: JID?) {
    self.init(Kind(row.kind), to: recipient, id: id, body: row.body)
    originID = row.originID
    thread = row.thread
    replaces = row.replaces
    replyTo = row.replyTo
    if FileLink.isLink(id) { link = row.body }
    reactions = row.reaction.map { Reactions(to: $0.to, $0.emoji) }
    // A private word through the room.
    concernsRoom = row.room != nil && row.kind == .chat
    if row.room == nil, row.reaction == nil {
      chatState = .active
      receipt = .request
      marker = .markable
    }
    // In a room a stamp would make it a word of earlier.
    if let account, row.room == nil { delay = Delay(stamp: row.time, from: account.description) }
  }

  /// The stanza of `row` has more than `limit` bytes. What a contact writes has a hand in how long ours are: ids and threads are
  /// theirs.
  static func isTooLong(_ row: NewMessage, to recipient: JID, from account: JID, limit: Int) -> Bool {
    // Each byte is six in XML at most. To know it exactly is needed for hardly any.
    let lengths = [row.body, row.thread, row.replaces, row.replyTo, row.messageID, row.originID, row.reaction?.to]
    let most = 6 * (lengths.reduce(0) { $0 + ($1?.utf8.count ?? 0) } + 2 * recipient.description.utf8.count)
    guard most + 4_000 > limit else { return false }
    let message = Message(row, id: row.messageID ?? "", to: recipient, delayedBy: account)
    return message.element.byteCount(parentNamespace: Namespace.client) > limit
  }
}
