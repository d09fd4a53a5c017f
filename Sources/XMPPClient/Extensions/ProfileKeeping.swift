import EventLoop
import JID
import XML
import XMPPStanzas

/// XEP-0163 (1.2.2): what contacts see of the bot when it is offline, too: avatar (XEP-0084) and nickname (XEP-0172).
///
/// Each is published only when the server has another, so that contacts are not told anew at each login. A key that is
/// not set leaves alone what another client may have published; one that is unset while the bot runs takes it back.
/// Where the server has no PEP, both go into the vCard (XEP-0054, XEP-0153). Where it has, the vCard is the server's
/// to fill (XEP-0398): Prosody and ejabberd do.
extension Session {
  /// Where the server keeps such things.
  enum ProfileStore { case pep, vCard }

  /// Publishes what is set, and what `old` had set and is no more.
  func publishProfile(insteadOf old: SessionOptions? = nil) {
    let avatarIsOurs = options.avatar != nil || old?.avatar != nil
    let nicknameIsOurs = options.nickname != nil || old?.nickname != nil
    switch profileStore {
    case .pep?:
      if nicknameIsOurs { publish(nickname: options.nickname) }
      if avatarIsOurs { publish(options.avatar) }
    case .vCard?: if avatarIsOurs || nicknameIsOurs { updateVCard(avatar: avatarIsOurs, nickname: nicknameIsOurs) }
    case nil: break
    }
  }

  // MARK: - PEP

  private func publish(nickname: String?) {
    newestItem(of: Namespace.nickname, "the nickname") { [weak self] item in
      guard let self else { return }
      let current = item.flatMap(Nickname.name).flatMap { $0.isEmpty ? nil : $0 }
      guard current != nickname else { return }
      publish(Nickname.element(nickname ?? ""), id: "current", to: Namespace.nickname, "the nickname")
    }
  }

  private func publish(_ avatar: Avatar?) {
    newestItem(of: Namespace.avatarMetadata, "the avatar") { [weak self] item in
      guard let self, item.flatMap(Avatar.id) != avatar?.id else { return }
      guard let avatar else {
        return publish(Avatar.none, id: "current", to: Namespace.avatarMetadata, "the avatar's end")
      }
      // The picture first: who hears of it fetches it at once (XEP-0084 section 3.1).
      publish(avatar.data, id: avatar.id, to: Namespace.avatarData, "the avatar") { [weak self] in
        self?.publish(avatar.metadata, id: avatar.id, to: Namespace.avatarMetadata, "the avatar's description")
      }
    }
  }

  private func newestItem(of node: String, _ what: String, completion: @escaping @LoopActor (Element?) -> Void) {
    request(.get, PubSub.newestItem(of: node)) { [weak self] result in
      switch result {
      case .success(let iq): completion(PubSub.payload(in: iq.payload, of: node))
      // There is no such node yet.
      case .failure(let error) where error.condition == .itemNotFound: completion(nil)
      case .failure(let error): self?.report(what, error)
      }
    }
  }

  private func publish(
    _ payload: Element, id: String, to node: String, _ what: String, then: @escaping @LoopActor () -> Void = {}
  ) {
    request(.set, PubSub.publish(payload, id: id, to: node)) { [weak self] result in
      switch result {
      case .success: then()
      case .failure(let error): self?.report(what, error)
      }
    }
  }

  private func report(_ what: String, _ error: StanzaError) {
    // A lost stream: the next login publishes.
    guard isOnline else { return }
    delegate?.session(self, noticed: .notPublished("the server did not take \(what): \(error)"))
  }

  // MARK: - vCard

  private func updateVCard(avatar setsAvatar: Bool, nickname setsNickname: Bool) {
    request(.get, VCard.request) { [weak self] result in
      guard let self else { return }
      var card: VCard
      switch result {
      case .success(let iq): card = iq.payload.flatMap(VCard.init) ?? VCard()
      case .failure(let error) where error.condition == .itemNotFound: card = VCard()
      case .failure(let error): return report("the vCard", error)
      }
      let before = card
      if setsAvatar, card.photoID != options.avatar?.id { card.set(options.avatar) }
      if setsNickname, card.nickname != options.nickname { card.set(nickname: options.nickname) }
      // Only after it was looked at may it be told of (XEP-0153 section 4.2).
      let photo = card.photoID.map(VCardPhoto.id) ?? VCardPhoto.none
      guard card != before else { return show(photo) }
      request(.set, card.element) { [weak self] result in
        switch result {
        case .success: self?.show(photo)
        case .failure(let error): self?.report("the vCard", error)
        }
      }
    }
  }

  private func show(_ new: VCardPhoto) {
    guard new != photo else { return }
    photo = new
    sendPresence()
  }
}
