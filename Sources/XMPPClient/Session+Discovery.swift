import EventLoop
import JID
import XML
import XMPPStanzas
import XMPPStream

/// What we tell of ourselves, and what the server tells of itself.
extension Session {
  /// What we do with messages (XEP-0085, XEP-0115, XEP-0184, XEP-0308, XEP-0333, XEP-0380, XEP-0461).
  static let messageFeatures: Set<String> = [
    Namespace.caps, Namespace.chatStates, Namespace.receipts, Namespace.markers, Namespace.reply, Namespace.correct,
    Namespace.explicitEncryption, Namespace.reactions,
  ]

  /// Each waits half a minute for an answer.
  private static let discoveryAttempts = 4

  func sendPresence() {
    var presence = Presence(.available)
    presence.status = options.status
    presence.priority = options.priority
    presence.nickname = options.nickname
    presence.caps = caps
    presence.photo = photo
    send(presence.element)
  }

  /// Asks the account and the server what they can do. `attempt`: a server that is swamped, or a stream that was away, may leave
  /// both without an answer; to have gone on as if the server could nothing would hold for the whole session.
  func discover(attempt: Int = 1) {
    needsDiscovery = false
    serverFeatures = []
    profileStore = nil
    uploadService = nil
    let account = options.account
    var store = ProfileStore.vCard
    var awaited = 2
    var isUnanswered = false
    for entity in [account, account.server] {
      request(.get, to: entity, DiscoInfo.request()) { [weak self] result in
        guard let self else { return }
        if case .success(let iq) = result, let info = iq.payload.flatMap(DiscoInfo.init) {
          serverFeatures.formUnion(info.features)
          // Old servers say of themselves what newer ones say of each account (XEP-0163 section 6.1).
          if info.has(identity: "pubsub", "pep") { store = .pep }
          if entity == account {
            origin.trustsAccountIDs = Self.vouchesForIDs(info.features)
            storeStream()
          }
        }
        if case .failure(let error) = result, error.condition == .remoteServerTimeout { isUnanswered = true }
        awaited -= 1
        guard awaited == 0 else { return }
        // It was asked on a stream that is gone; asked again when the session goes on.
        guard isOnline else { return needsDiscovery = true }
        if isUnanswered, attempt < Self.discoveryAttempts { return discover(attempt: attempt + 1) }
        profileStore = store
        publishProfile()
        enableCarbons()
        delegate?.sessionDiscovered(self)
      }
    }
  }

  func enableCarbons() {
    guard serverFeatures.contains(Namespace.carbons) else { return }
    request(.set, Carbon.enable) { [weak self] result in
      if case .success = result { self?.origin.expectsCarbons = true }
    }
  }

  /// Asks an archive for a page (XEP-0313): its results come to the delegate, then its end to `completion`.
  /// - Parameter archive: our own account, or a room.
  public func query(
    _ query: ArchiveQuery, in archive: JID, completion: @escaping @LoopActor (Result<ArchiveFin, StanzaError>) -> Void
  ) {
    origin.expectResults(queryID: query.queryID, from: archive)
    request(
      .set, to: archive == options.account ? nil : archive, query.element, timeout: .seconds(120)
    ) { [weak self] answer in
      self?.origin.stopExpecting(queryID: query.queryID)
      do throws(StanzaError) {
        completion(.success(try ArchiveFin(answer: answer)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Which of the two a server says differs between versions; both mean that it removes forged ids of the account's.
  static func vouchesForIDs(_ features: Set<String>) -> Bool {
    !features.isDisjoint(with: [Namespace.stanzaID, Namespace.archive])
  }
}
