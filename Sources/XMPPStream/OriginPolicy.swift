import JID
import XMPPStanzas

/// The one gate through which all that arrives on an online stream must pass: who may say what.
///
/// What comes out is safe to act upon: the sender of a message is the one the server vouches for, ids that prove
/// nothing are gone, and nothing that only the account or its server may say was said by anybody else.
public struct OriginPolicy: Sendable {
  /// What may be done with a stanza.
  public enum Admission: Sendable {
    case message(Message)
    case presence(Presence)
    /// A change of the roster, from the account itself (RFC 6121 section 2.1.6).
    case rosterPush(IQ, RosterQuery)
    /// A request, to be answered.
    case request(IQ)
    /// An answer, still to be matched against what was asked.
    case answer(IQ)
    /// Of no interest to a bot, and not worth a word.
    case ignored
    /// Not acted upon; the reason is worth a line in the log.
    case refused(String)
  }

  /// Our full address.
  private let own: JID
  private let account: JID
  /// The account's server replaces forged `<stanza-id by='account'/>` (it announces XEP-0359 or XEP-0313).
  public var trustsAccountIDs = false

  public init(own: JID) {
    self.own = own
    account = own.bare
  }

  public func admit(_ stanza: consuming Stanza) -> Admission {
    switch stanza {
    case .message(let message): admit(message)
    case .presence(let presence): admit(presence)
    case .iq(let iq): admit(iq)
    }
  }

  private func admit(_ message: consuming Message) -> Admission {
    if let stranger = stranger(message.to) { return .refused("a message to \(stranger) is not for us") }
    var message = message
    // No address means the account itself (RFC 6120 section 8.1.2.1).
    let from = message.from ?? account
    message.from = from
    switch message.wrapper {
    // Neither carbons nor archive results were asked for: whoever sends one forges it (XEP-0280 section 11,
    // XEP-0313 section 8.1.1).
    case .carbon: return .refused("a carbon from \(from) that nobody asked for")
    case .archiveResult: return .refused("an archive result from \(from) that nobody asked for")
    // Our own nodes tell each of our resources what we published ourselves (XEP-0163 section 1.1).
    case .publishEvent where from == account: return .ignored
    // Not subscribed to anything: news of nodes is not for us (XEP-0060).
    case .publishEvent: return .refused("an event of \(from) that we are not subscribed to")
    case nil: break
    }
    if !message.stanzaIDs.isEmpty {
      message.stanzaIDs = message.stanzaIDs.filter { isTrusted($0, in: message) }
    }
    return .message(message)
  }

  // XEP-0359 section 5: only the entity that `by` names could have made the id, and only if it replaces forgeries.
  private func isTrusted(_ id: StanzaID, in message: Message) -> Bool {
    guard message.kind != .groupchat else { return false }
    return trustsAccountIDs && (try? JID(id.by)) == account
  }

  private func admit(_ presence: Presence) -> Admission {
    if let stranger = stranger(presence.to) { return .refused("a presence to \(stranger) is not for us") }
    // Without an address it is our own that comes back.
    guard let from = presence.from, !from.isSameAccount(as: account) else { return .ignored }
    return .presence(presence)
  }

  private func admit(_ iq: IQ) -> Admission {
    if let stranger = stranger(iq.to) { return .refused("an iq to \(stranger) is not for us") }
    guard iq.isRequest else { return .answer(iq) }
    guard iq.kind == .set, let query = iq.payload.flatMap(RosterQuery.init) else { return .request(iq) }
    // RFC 6121 section 2.1.6: from nobody or from our own account, else it is a forgery.
    guard iq.from == nil || iq.from == account || iq.from == own else {
      return .refused("a roster push from \(iq.from?.description ?? "")")
    }
    return .rosterPush(iq, query)
  }

  /// To whom a stanza is addressed that is not for us.
  private func stranger(_ to: JID?) -> JID? {
    guard let to, !to.isSameAccount(as: account) else { return nil }
    return to
  }
}
