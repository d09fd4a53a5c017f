import Archive
import BotKit
import JID
import XML
import XMPPStanzas

/// What came over the stream, as the archive keeps it and as commands see it.
extension Message {
  /// True when there is something to keep: a text, a subject, or a deed done to an earlier message.
  var isWorthKeeping: Bool {
    body != nil || subject != nil || retracts != nil || reactions != nil || encryption != nil || kind == .error
  }

  /// The message of ours that this one says has arrived, and how far (XEP-0184, XEP-0333).
  var settles: (id: String, state: NewMessage.State)? {
    if case .displayed(let id)? = marker { return (id, .displayed) }
    if case .acknowledged(let id)? = marker { return (id, .displayed) }
    if case .received(let id)? = receipt { return (id, .received) }
    if case .received(let id)? = marker { return (id, .received) }
    return nil
  }

  /// The archive's row of a message; `from`: the other side.
  func row(from: JID, time: Int64, raw: String?) -> NewMessage {
    var row = NewMessage(.in, NewMessage.Kind(kind), peer: from.bare.description, time: time, body: body)
    if kind == .groupchat {
      row.room = from.bare.description
      row.nick = from.resource
      // Elsewhere it is the sender's own word.
      row.occupantID = occupantID
    } else {
      row.resource = from.resource
      row.nick = nickname
    }
    row.subject = subject
    row.lang = lang
    row.thread = thread
    row.delay = delay?.stamp
    row.messageID = id
    row.originID = originID
    row.stanzaID = stanzaIDs.first.map { .init(id: $0.id, by: $0.by) }
    row.replaces = replaces
    row.retracts = retracts
    row.replyTo = replyTo
    row.reaction = reactions.map { .init(to: $0.messageID, emoji: $0.emoji) }
    row.error = error?.description
    row.rawXML = raw
    return row
  }

  /// Bytes of an id or a thread that comes back in what we say.
  static let longestReference = 512

  /// An id or a thread as long as any that a client means; nil for a longer one, which would make our stanza too long.
  static func usable(_ reference: String?) -> String? {
    reference.flatMap { $0.utf8.count <= longestReference ? $0 : nil }
  }

  /// It has a text, for us or other eyes, and does nothing to an earlier message.
  var mayBeCommand: Bool {
    (body != nil || encryption != nil) && retracts == nil && reactions == nil && !isKeyExchange
  }

  /// The message for the router; nil when it can be no command, whatever it says.
  func chat(from: JID, account: JID, time: Int64) -> ChatMessage? {
    // Never an answer to an error, to a headline, to ourselves, to a server, to what has no text.
    let sender = from.bare
    guard kind == .chat || kind == .normal, mayBeCommand, sender != account, from.local != nil, !concernsRoom else {
      return nil
    }
    let age = delay?.stamp.map { Duration.microseconds(max(0, time - $0)) } ?? .zero
    var chat = ChatMessage(
      sender: sender, body: encryption == nil ? body ?? "" : "", resource: from.resource, nick: nickname,
      messageID: Self.usable(id), thread: Self.usable(thread), lang: lang, time: time, age: age)
    chat.originID = Self.usable(originID)
    chat.corrects = replaces
    chat.isEncrypted = encryption != nil
    return chat
  }
}

extension NewMessage.Kind {
  init(_ kind: Message.Kind) {
    switch kind {
    case .normal: self = .normal
    case .chat: self = .chat
    case .groupchat: self = .groupchat
    case .headline: self = .headline
    case .error: self = .error
    }
  }
}

extension Message.Kind {
  init(_ kind: NewMessage.Kind) {
    switch kind {
    case .normal: self = .normal
    case .chat: self = .chat
    case .groupchat: self = .groupchat
    case .headline: self = .headline
    case .error: self = .error
    }
  }
}
