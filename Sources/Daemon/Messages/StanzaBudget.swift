import JID
import XMPPClient

/// How long one message's text may be, so that the server takes the stanza.
enum StanzaBudget {
  /// What every server takes (RFC 6120 section 13.12).
  static let least = Session.leastStanzaLimit
  /// A longer message is no good to read, and the contact's own server may take less than ours.
  static let longest = 16_000
  /// What servers take that do not say (XEP-0478 is young): more than any of ours has, less than any refuses.
  static let usual = 65_536
  /// For what is around the text: ids, receipts, a delay, and addresses of usual length.
  private static let envelope = 2_000

  /// Bytes of the text as XML. `maxBytes`: what the server takes (XEP-0478), if it says so.
  static func text(maxBytes: Int?, to recipient: JID, thread: String?) -> Int {
    // An address is there twice at most, and an apostrophe in it takes six bytes; five in a thread's text.
    let unusual = max(0, 2 * recipient.description.utf8.count + 5 * (thread?.utf8.count ?? 0) - 800)
    return max(500, min((maxBytes ?? least) - envelope - unusual, longest))
  }
}
