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
    /// What another device of the account has sent or received: for the archive, never to be acted upon.
    case carbon(CarbonCopy)
    /// What an archive holds that was asked for.
    case archived(ArchivedMessage)
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
  let account: JID
  /// The account's server replaces forged `<stanza-id by='account'/>` (it announces XEP-0359 or XEP-0313).
  public var trustsAccountIDs = false
  /// Carbons were asked for and granted (XEP-0280).
  public var expectsCarbons = false
  /// The rooms that were asked for, also those that were left since: bare. What others call a room is none.
  public var rooms: Set<JID> = []
  /// The open queries, each with the archive that was asked.
  private(set) var expectedResults: [String: JID] = [:]

  public init(own: JID) {
    self.own = own
    account = own.bare
  }

  /// An archive was asked: results that carry `queryID` are let in when they come from it.
  /// - Parameter archive: our own account or a room, bare.
  public mutating func expectResults(queryID: String, from archive: JID) {
    expectedResults[queryID] = archive.bare
  }

  /// The query has been answered, or given up: what still comes of it is not let in.
  public mutating func stopExpecting(queryID: String) {
    expectedResults[queryID] = nil
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
    case .carbon(let wrapper): return admitCarbon(wrapper, from: from)
    case .archiveResult(let wrapper): return admitResult(wrapper, from: from)
    // Our own nodes tell each of our resources what we published ourselves (XEP-0163 section 1.1).
    case .publishEvent where from == account: return .ignored
    // Not subscribed to anything: news of nodes is not for us (XEP-0060).
    case .publishEvent: return .refused("an event of \(from) that we are not subscribed to")
    case nil: break
    }
    if message.kind == .groupchat, !rooms.contains(from.bare) {
      return .refused("a message of the room \(from.bare), which was not asked for")
    }
    if !message.stanzaIDs.isEmpty { message.stanzaIDs = trusted(message.stanzaIDs, in: message.kind, from: from) }
    return .message(message)
  }

  /// The id that counts, with the account's address as we write it. XEP-0359 section 5: only the entity that `by` names
  /// could have made the id, and only if it removes forgeries. Of several the last: Prosody 0.12 leaves what the sender
  /// forged and puts its own behind it. Of what is said in a room the room's counts, if `Rooms` finds that it vouches for it.
  func trusted(_ ids: [StanzaID], in kind: Message.Kind, from: JID) -> [StanzaID] {
    let giver = kind == .groupchat ? from.bare : account
    guard trustsAccountIDs || kind == .groupchat,
      let id = ids.last(where: { $0.by == giver.description || (try? JID($0.by)) == giver })
    else { return [] }
    return [StanzaID(id: id.id, by: giver.description)]
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
