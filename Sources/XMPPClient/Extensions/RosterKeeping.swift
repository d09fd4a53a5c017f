import JID
import XML
import XMPPStanzas

/// RFC 6121 sections 2 and 3: the roster, and who may see us.
///
/// The entries in the bot's group are the bot's to keep: one is made when a contact is accepted, and removed when the
/// contact no longer sees the bot's presence, whether it left while the bot was online (`unsubscribe`) or not. So the
/// roster holds those who have the bot in theirs, and does not grow for ever. Entries in other groups are left alone.
extension Session {
  /// A longer nickname is no name; roster and archive need not carry it.
  static let maximumNameBytes = 256
  /// A larger roster takes no more contacts: strangers fill it, and in one stanza we must be able to read it.
  static let maximumRosterBytes = ParserLimits().stanzaBytes / 4 * 3

  /// Asks for the roster; with our version, so that a server that keeps versions need not send it again.
  func requestRoster(isVersioned: Bool) {
    let query = RosterQuery(version: isVersioned ? roster.version ?? "" : nil)
    request(.get, query.element) { [weak self] result in
      guard let self, case .success(let iq) = result else { return }
      // An empty result: what we have is current, changes come as pushes (section 2.6.3).
      if let query = iq.payload.flatMap(RosterQuery.init) {
        let change = roster.replace(with: query)
        delegate?.session(self, changed: roster, by: change)
      }
      turn { for contact in roster.items.keys where !roster.isContact(contact) { remove(contact) } }
    }
  }

  func receivePush(_ iq: IQ, _ query: RosterQuery) {
    guard let change = roster.apply(query) else {
      return sendAnswer(iq.refusal(StanzaError(.modify, .badRequest)))
    }
    sendAnswer(iq.result())
    delegate?.session(self, changed: roster, by: change)
  }

  /// A presence of somebody else's. Whether contacts are there is not kept: a bot answers whoever writes.
  func receive(_ presence: Presence) {
    switch presence.kind {
    case .subscribe:
      guard let from = presence.from?.bare else { return }
      switch subscriptions.admit(at: environment.scheduler.now) {
      case .act: decide(from, nickname: presence.nickname)
      case .ignore: break
      case .ignoreAndTell:
        delegate?.session(self, noticed: .refused("too many subscription requests, the latest from \(from)"))
      }
    case .unsubscribe: if let from = presence.from?.bare { remove(from) }
    case .unsubscribed: if let from = presence.from?.bare, !roster.isContact(from) { remove(from) }
    case .available, .unavailable, .subscribed, .probe, .error: break
    }
  }

  private func decide(_ contact: JID, nickname: String?) {
    let isKnown = roster.items[contact] != nil
    guard options.acceptsSubscription(contact), isKnown || roster.bytes < Self.maximumRosterBytes else {
      send(Presence(.unsubscribed, to: contact).element)
      delegate?.session(self, noticed: .subscriptionRefused(contact))
      return
    }
    send(Presence(.subscribed, to: contact).element)
    subscribeBack(to: contact, nickname: nickname)
    delegate?.session(self, noticed: .subscriptionAccepted(contact))
  }

  private func subscribeBack(to contact: JID, nickname: String?) {
    let name = nickname.flatMap { $0.isEmpty || $0.utf8.count > Self.maximumNameBytes ? nil : $0 }
    var item = roster.items[contact] ?? RosterItem(jid: contact, name: name)
    if !item.groups.contains(options.group) {
      item.groups.append(options.group)
      request(.set, RosterQuery(items: [item]).element) { _ in }
    }
    let sees = item.subscription == .to || item.subscription == .both
    if !sees, !item.isPending {
      var presence = Presence(.subscribe, to: contact)
      presence.nickname = options.nickname
      send(presence.element)
    }
  }

  /// Takes an entry of ours off the roster, which ends what is left of the subscriptions, too (section 2.5.2).
  private func remove(_ contact: JID) {
    guard let item = roster.items[contact], item.groups.contains(options.group) else { return }
    request(.set, RosterQuery(items: [RosterItem(jid: contact, subscription: .remove)]).element) { _ in }
  }
}
