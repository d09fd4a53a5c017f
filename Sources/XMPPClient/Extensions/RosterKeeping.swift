import JID
import XML
import XMPPStanzas

/// RFC 6121 sections 2 and 3: the roster, and who may see us.
extension Session {
  /// Asks for the roster; with our version, so that a server that keeps versions need not send it again.
  func requestRoster(isVersioned: Bool) {
    let query = RosterQuery(version: isVersioned ? roster.version ?? "" : nil)
    request(.get, query.element) { [weak self] result in
      guard let self, case .success(let iq) = result else { return }
      // An empty result: what we have is current, changes come as pushes (section 2.6.3).
      guard let query = iq.payload.flatMap(RosterQuery.init) else { return }
      let change = roster.replace(with: query)
      delegate?.session(self, changed: roster, by: change)
    }
  }

  func receivePush(_ iq: IQ, _ query: RosterQuery) {
    guard let change = roster.apply(query) else {
      return _ = send(iq.refusal(StanzaError(.modify, .badRequest)))
    }
    send(iq.result())
    delegate?.session(self, changed: roster, by: change)
  }

  func receive(_ presence: Presence) {
    guard let from = presence.from?.bare, from != options.account else { return }
    // Presence itself is not kept: a bot answers whoever writes, present or not.
    guard presence.kind == .subscribe else { return }
    guard options.acceptsSubscription(from) else {
      send(Presence(.unsubscribed, to: from).element)
      delegate?.session(self, noticed: .subscriptionRefused(from))
      return
    }
    send(Presence(.subscribed, to: from).element)
    subscribeBack(to: from, nickname: presence.nickname)
    delegate?.session(self, noticed: .subscriptionAccepted(from))
  }

  private func subscribeBack(to contact: JID, nickname: String?) {
    var item = roster.items[contact] ?? RosterItem(jid: contact, name: nickname)
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
}
