import JID
import XML
import XMPPStanzas
import XMPPStream

/// Stream management (XEP-0198): the session goes on where a stream has ended.
extension Session {
  /// A new session, managed if the server has `enabled` that.
  func begin(_ jid: JID, _ features: StreamFeatures, enabled: Element?) {
    blame()
    caution.begin()
    isResumed = false
    isUnproven = false
    forgetRequests()
    epoch += 1
    management = enabled.map { StreamManagement(enabled: $0, epoch: epoch) }
    confirmation = PingConfirmation()
    boundJID = jid
    isForeign = false
    handsBack = false
    lastSent = nil
    let rooms = origin.rooms
    origin = OriginPolicy(own: jid)
    origin.rooms = rooms
    tracker.bind(to: jid)
    photo = nil
    storeStream()
    online(jid, features, .new)
  }

  /// Takes the number of a stanza that came in; not at all if it was here before the stream was resumed.
  func count(_ body: (StreamManagement.HandledCount?) -> Void) {
    guard management != nil else { return body(nil) }
    if let number = management?.receive() { body(number) }
  }

  /// The stanza of this number is taken care of without being stored.
  public func take(_ number: StreamManagement.HandledCount?) {
    if let number { management?.take(number) }
  }

  /// The message of this number is handed to the archive now: the count to store in the same transaction, and to give to
  /// `stored` afterwards.
  public func handOver(_ number: StreamManagement.HandledCount?) -> StreamManagement.HandledCount? {
    number.flatMap { management?.store(with: $0) }
  }

  /// This count is stored: the server may forget so many.
  public func stored(_ count: StreamManagement.HandledCount) {
    perform(management?.stored(count) ?? [])
  }

  func receiveManagement(_ element: Element) {
    guard management != nil else {
      return link?.close(.violation(StreamError("unsupported-stanza-type", "<\(element.name)/>"))) ?? ()
    }
    let before = management?.unacknowledged
    perform(management?.received(element) ?? [])
    if management?.isWaiting == false {
      if questionAsked != nil { isUnproven = false }
      questionAsked = nil
      isHeardUnanswered = false
    }
    if trial != nil { return goOnWithTrial() }
    // What went out since the question; without progress it would go round in circles.
    if management?.unacknowledged != before { turn { askForConfirmation() } }
  }

  /// The server listens, or has taken what was sent to it alone.
  private func goOnWithTrial() {
    guard let link, management?.isWaiting == false else { return }
    turn {
      if trial == .asking, let suspect = boundJID.flatMap({ management?.resend(from: $0).first }) {
        trial = .alone
        link.send(suspect)
      } else {
        trial = nil
        resend()
      }
      askForConfirmation()
    }
  }

  private func resend() {
    guard let boundJID else { return }
    for element in management?.resend(from: boundJID) ?? [] { link?.send(element) }
  }

  func perform(_ actions: [StreamManagement.Action]) {
    for action in actions {
      switch action {
      // It may come before stanzas of ours: what it counts are the server's.
      case .send(let element): if isOnline { link?.sendFirst(element) }
      case .store(let count): delegate?.session(self, stores: count)
      case .acknowledged(let tokens): acknowledge(tokens)
      case .violation(let error):
        // What the two sides count differs: this session is not taken up again.
        management = nil
        link?.close(.violation(error), error: error)
      }
    }
  }

  private func acknowledge(_ tokens: [String]) {
    suspicion.acknowledged(tokens)
    caution.confirm(tokens.count)
    delegate?.session(self, acknowledged: tokens)
  }

  /// With what a turn sends goes the question whether the server has it.
  func askForConfirmation() {
    guard isOnline, let link else { return }
    if management != nil {
      guard let question = management?.question() else { return }
      questionAsked = environment.scheduler.now
      link.send(question)
    } else if confirmation.ask(always: caution.isOn) {
      // A server handles a client's stanzas in order (RFC 6120 section 10.1): when it answers this, it has the others.
      request(.get, to: options.account.server, Element("ping", Namespace.ping)) { [weak self] result in
        guard let self else { return }
        switch result {
        case .failure(let error) where [.remoteServerTimeout, .recipientUnavailable].contains(error.condition):
          return confirmation.unanswered()
        default: break
        }
        let tokens = confirmation.answered()
        acknowledge(tokens)
        turn { askForConfirmation() }
      }
    }
  }

  /// The server does not confirm what it got. While anything comes, its word may stand behind that on a narrow line, and
  /// whether anything comes is the keepalive's business; but for ever it does not.
  func hasWaitedTooLong(_ now: ContinuousClock.Instant) -> Bool {
    guard !isReadingPaused, let questionAsked else { return false }
    let limit = options.keepaliveInterval + options.keepaliveTimeout
    let waited = questionAsked.duration(to: now)
    return seemsDeaf ? waited > max(limit, .seconds(30)) : waited > limit * 30
  }

  /// The stream goes on where the last one ended.
  func resume(_ jid: JID, _ features: StreamFeatures, _ h: UInt32) {
    let continuity: OnlineInfo.Continuity = isForeign ? .adopted : .resumed
    isForeign = false
    tracker.bind(to: jid)
    let resumed = link
    perform(management?.resumed(h: h, told: toldHandled) ?? [])
    guard let resumed, link === resumed else { return }
    if continuity == .adopted, let sent = foreignSent, Int32(bitPattern: h &- sent.count) >= 0 {
      delegate?.session(self, acknowledgedUpTo: sent.last)
    }
    blame()
    caution = Caution()
    isResumed = true
    isUnproven = true
    if let first = management?.first, suspicion.isStrong(first.element, token: first.token) {
      trial = .asking
    } else if handsBack {
      handBack()
    }
    turn {
      if trial == nil { resend() }
      online(jid, features, continuity)
      askForConfirmation()
    }
  }

  /// The count of a server need not be true: ejabberd 23.01 goes on with what came on the old connection after it has told the
  /// new one how far it is. What became of messages is seen in the archive, before they are sent again.
  private func handBack() {
    guard let tokens = management?.takeBack(), !tokens.isEmpty else { return }
    // The numbers behind this go to other stanzas now.
    lastSent = nil
    storeStream()
    delegate?.session(self, handsBack: tokens)
  }

  /// A server that never gives a good answer when it is asked for the session must not keep us offline for ever.
  func forgetWhatCannotBeResumed() {
    guard case .connecting = state, link?.waitsForResumption == true else { return }
    resumptionsRefused += 1
    guard resumptionsRefused >= 2 else { return }
    resumptionFailed(nil)
    storeStream()
  }

  func resumptionFailed(_ h: UInt32?) {
    perform(management?.failed(h: h) ?? [])
    blame()
    management = nil
    isForeign = false
    forgetRequests()
  }

  /// Why a server ends streams whatever is said on them (RFC 6120 section 4.9.3).
  static let concernsNoStanza: Set<String> = ["conflict", "system-shutdown", "reset"]

  /// If the last stream died, it may have been over the first stanza that the server does not have.
  func blame() {
    let proof = trial == .alone || (!isResumed && caution.isOn)
    trial = nil
    switch lastFailure {
    case .streamError(let error) where Self.concernsNoStanza.contains(error.condition): return
    case .closed, .connectionLost, .streamError: break
    default: return
    }
    lastFailure = nil
    let first = management == nil ? confirmation.first : management?.first.map { ($0.element, $0.token) }
    caution.died(isInDoubt: first != nil)
    guard let (element, token) = first, suspicion.condemns(element, token: token, proof: proof) else {
      return
    }
    management?.dropFirst()
    delegate?.session(self, noticed: .setAside(element))
    if let token { delegate?.session(self, setAside: token) }
  }

  /// What the server sends may be such that the stream can't go on; resumed, it would get the same again for ever.
  func countViolations(_ failure: StreamFailure) {
    guard case .online = state else { return }
    guard case .violation(let error) = failure, let management else { return unreadable = Unreadable() }
    guard unreadable.recurs(at: management.place), let count = self.management?.skipNext() else { return }
    delegate?.session(self, noticed: .skippedUnreadable(error))
    delegate?.session(self, stores: count)
  }

  func storeStream() {
    guard let management, let id = management.id, let boundJID else {
      return delegate?.session(self, stores: nil as SuspendedStream?) ?? ()
    }
    let stream = SuspendedStream(
      id: id, jid: boundJID, location: management.location, handled: management.storedCount,
      trustsAccountIDs: origin.trustsAccountIDs, sent: lastSent)
    delegate?.session(self, stores: stream)
  }

  /// The stream ended because we wanted it to.
  func settle() {
    guard afterwards != .suspend, management != nil else { return }
    management = nil
    storeStream()
  }
}
