import JID
import XMPPStanzas

/// XEP-0085 (2.1): what contacts are shown while commands of theirs run. Pure: events in, notices out.
///
/// The first command of a contact shows "composing"; each message of ours takes that away, so it is shown again while a
/// command still runs; when the last one ends without a word, "paused" takes it away. Never the same state twice in a row
/// (section 5.3).
struct TypingStates {
  /// A standalone notice. It keeps the thread of what is answered (section 5.5).
  struct Notice: Equatable {
    let recipient: JID
    let state: ChatState
    let thread: String?
  }

  private struct Conversation {
    /// Commands, by their ids.
    var running: Set<Int64> = []
    var isComposing = false
    var thread: String?
  }

  /// Those in which a command runs.
  private var conversations: [JID: Conversation] = [:]

  /// The command `id` of `contact` has begun.
  mutating func began(_ id: Int64, of contact: JID, thread: String?) -> Notice? {
    var conversation = conversations[contact] ?? Conversation()
    conversation.running.insert(id)
    conversation.thread = thread
    let isNew = !conversation.isComposing
    conversation.isComposing = true
    conversations[contact] = conversation
    return isNew ? Notice(recipient: contact, state: .composing, thread: thread) : nil
  }

  /// `contact` was sent a message. True: a command still runs, so `renewals` is to be asked in a moment.
  mutating func said(to contact: JID) -> Bool {
    guard conversations[contact] != nil else { return false }
    conversations[contact]?.isComposing = false
    return true
  }

  /// What is to be shown again.
  mutating func renewals() -> [Notice] {
    var notices: [Notice] = []
    for (contact, conversation) in conversations where !conversation.isComposing {
      conversations[contact]?.isComposing = true
      notices.append(Notice(recipient: contact, state: .composing, thread: conversation.thread))
    }
    return notices
  }

  /// The command `id` of `contact` has ended, if it ever began; `speaks`: a message of ours follows.
  mutating func ended(_ id: Int64, of contact: JID, speaks: Bool) -> Notice? {
    guard conversations[contact]?.running.remove(id) != nil, let conversation = conversations[contact],
      conversation.running.isEmpty
    else { return nil }
    conversations[contact] = nil
    guard conversation.isComposing, !speaks else { return nil }
    return Notice(recipient: contact, state: .paused, thread: conversation.thread)
  }
}
