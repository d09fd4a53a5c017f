import EventLoop
import JID
import XML
import XMPPStanzas
import XMPPStream

/// Answers requests that need more than the session knows, at once or later. It is asked before the session's own
/// responders.
@LoopActor
public protocol RequestService: AnyObject {
  func handles(_ iq: IQ, _ payload: Element) -> Bool
  /// With a number it must be given to `Session.handOver` or `Session.take`.
  func answer(_ request: OpenRequest, number: StreamManagement.HandledCount?)
}

/// A request of somebody's that has no answer yet. It gets one, exactly one.
@LoopActor
public final class OpenRequest {
  public let iq: IQ
  public let payload: Element
  private weak var session: Session?
  /// Called when the stream ended on which an answer would have been heard.
  public var onClosed: @LoopActor () -> Void = {}

  init(_ iq: IQ, _ payload: Element, _ session: Session) {
    self.iq = iq
    self.payload = payload
    self.session = session
  }

  /// Whether it can still be answered.
  public var isOpen: Bool { session != nil }

  /// Bytes of XML that the answer's payload may have; none when it can't be answered any more.
  public var room: Int {
    guard let session else { return 0 }
    let around = iq.result().byteCount(parentNamespace: Namespace.client) + "></iq>".utf8.count - "/>".utf8.count
    return max(0, (session.stanzaLimit ?? Session.leastStanzaLimit) - around)
  }

  /// Whether the server takes an answer with this payload.
  public func hasRoom(for payload: Element) -> Bool {
    payload.byteCount(parentNamespace: Namespace.client) <= room
  }

  /// Answers it, unless it was answered before. `token`: what `acknowledged` will call the answer. Whether the answer was
  /// sent; one that is too long (`hasRoom`) is not, an error is.
  @discardableResult
  public func answer(_ result: Result<Element?, StanzaError>, token: String? = nil) -> Bool {
    guard let session else { return false }
    self.session = nil
    session.openRequests.close(self)
    return session.respond(to: iq, result, token: token)
  }

  func close() {
    session = nil
    onClosed()
  }
}

/// The requests that wait for an answer: so many in all, and of one contact.
@LoopActor
struct OpenRequests {
  nonisolated static let limit = 64
  nonisolated static let limitOfOne = 8

  private var requests: [ObjectIdentifier: OpenRequest] = [:]

  nonisolated init() {}

  var count: Int { requests.count }

  /// Whether one more of this contact's may wait.
  func hasPlace(for contact: JID?) -> Bool {
    guard requests.count < Self.limit else { return false }
    return requests.values.count { $0.iq.from?.bare == contact?.bare } < Self.limitOfOne
  }

  mutating func add(_ request: OpenRequest) { requests[ObjectIdentifier(request)] = request }

  mutating func close(_ request: OpenRequest) { requests[ObjectIdentifier(request)] = nil }

  mutating func removeAll() -> [OpenRequest] {
    defer { requests = [:] }
    return Array(requests.values)
  }
}

extension Session {
  /// Has the service answer, if this is its business.
  func isServed(_ iq: IQ, _ payload: Element, _ number: StreamManagement.HandledCount?) -> Bool {
    guard let service, service.handles(iq, payload) else { return false }
    guard openRequests.hasPlace(for: iq.from) else {
      take(number)
      let reason = "too many requests wait for an answer; try again later"
      respond(to: iq, .failure(StanzaError(.wait, .resourceConstraint, reason)))
      return true
    }
    let request = OpenRequest(iq, payload, self)
    openRequests.add(request)
    service.answer(request, number: number)
    return true
  }

  /// The stream is another one: who asked on the old one is told that no answer comes.
  func closeRequests() {
    for request in openRequests.removeAll() {
      respond(to: request.iq, .failure(StanzaError(.wait, .recipientUnavailable, "the stream ended; ask again")))
      request.close()
    }
  }
}
