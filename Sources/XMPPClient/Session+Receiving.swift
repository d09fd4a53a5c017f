import EventLoop
import JID
import XML
import XMPPStanzas
import XMPPStream

/// What comes over the online stream, and to whom it goes.
extension Session {
  func receive(_ element: Element, _ number: StreamManagement.HandledCount?) {
    let stanza: Stanza?
    do {
      stanza = try Stanza(element)
    } catch {
      take(number)
      return refuse(element, error.description, StanzaError(.modify, .badRequest))
    }
    guard let stanza else { return refuseStream(over: element) }
    switch origin.admit(stanza) {
    case .message(let message): return delegate?.session(self, received: message, as: element, number: number) ?? ()
    case .carbon(let carbon): return delegate?.session(self, received: carbon, number: number) ?? ()
    case .archived(let message): return delegate?.session(self, received: message, number: number) ?? ()
    case .presence(let presence):
      receive(presence)
      delegate?.session(self, received: presence)
    case .rosterPush(let iq, let query): receivePush(iq, query)
    case .request(let iq): return answer(iq, number)
    case .answer(let iq): resolve(iq)
    case .ignored: break
    case .refused(let reason): delegate?.session(self, noticed: .refused(reason))
    }
    take(number)
  }

  func refuse(_ element: Element, _ reason: String, _ error: StanzaError) {
    delegate?.session(self, noticed: .refused(reason))
    // A request gets an answer whatever it looks like (RFC 6120 section 8.2.3).
    guard element.name == "iq", let type = element["type"], type != "result", type != "error", let id = element["id"]
    else { return }
    sendAnswer(
      Element(
        "iq", Namespace.client, [("type", "error"), ("id", id), ("to", element["from"])], [error.element]))
  }

  /// Sends an answer to a request, unless so much waits that memory has to be kept for what matters more.
  func sendAnswer(_ element: Element) {
    if mayAnswer(element["to"].flatMap { try? JID($0) }) { send(element) }
  }

  /// Sends what nobody waits for, such as a receipt, unless there is enough on its way already.
  public func sendCourtesy(_ element: Element) {
    if !isCrowded { send(element) }
  }

  private var isCrowded: Bool { unsentBytes >= Self.answerLimit || isCongested }

  /// `asker`: nil is the server.
  private func mayAnswer(_ asker: JID?) -> Bool {
    reserve.admits(
      asker ?? options.account.server, isCrowded: isCrowded,
      isExhausted: unsentBytes >= 2 * Self.answerLimit || management?.isExhausted == true)
  }

  private func answer(_ iq: IQ, _ number: StreamManagement.HandledCount?) {
    guard mayAnswer(iq.from) else { return take(number) }
    if let payload = iq.payload, isServed(iq, payload, number) { return }
    answer(iq)
    take(number)
  }

  private func answer(_ iq: IQ) {
    guard let payload = iq.payload else { return _ = send(iq.refusal(StanzaError(.modify, .badRequest))) }
    for responder in responders where responder.handles(payload) {
      let request = RequestContext(
        iq: iq, payload: payload, info: ownInfo, caps: caps, now: environment.wallClock())
      switch responder.answer(request) {
      case .success(let result): send(iq.result(result))
      case .failure(let error): send(iq.refusal(error))
      }
      return
    }
    send(iq.refusal(StanzaError(.cancel, .serviceUnavailable)))
  }

  func resolve(_ iq: IQ) {
    guard let completion = tracker.take(iq) else {
      delegate?.session(
        self, noticed: .refused("an answer from \(iq.from?.description ?? "the server") to a request never made"))
      return
    }
    if tracker.isEmpty { trackerTimer = nil }
    completion(iq.error.map { .failure($0) } ?? .success(iq))
  }

  func watchRequests() {
    guard let deadline = tracker.nextDeadline else { return trackerTimer = nil }
    if let trackerTimer, trackerTimer.due <= deadline { return }
    let wait = environment.scheduler.now.duration(to: deadline)
    let work = environment.scheduler.schedule(after: wait) { [weak self] in
      guard let self else { return }
      trackerTimer = nil
      for completion in tracker.expired(at: environment.scheduler.now) {
        completion(.failure(StanzaError(.wait, .remoteServerTimeout)))
      }
      watchRequests()
    }
    trackerTimer = (work, deadline)
  }

  /// RFC 6120 section 4.9.3.24.
  func refuseStream(over element: Element) {
    link?.close(
      .violation(StreamError("unsupported-stanza-type", "<\(element.name)/>")),
      error: StreamError("unsupported-stanza-type"))
  }
}
