import JID
import XMPPStanzas

/// Our own requests that wait for an answer (RFC 6120 section 8.2.3), matched by id *and* by who may answer.
///
/// `Handler` is what the owner wants back with the answer. Pure: ids and time come in.
public struct IQTracker<Handler> {
  private struct Pending {
    var to: JID?
    var deadline: ContinuousClock.Instant
    var handler: Handler
  }

  private var pending: [String: Pending] = [:]
  /// Our own full address once we are online, the bare one before.
  private var own: JID
  /// More than this many open requests means that a server answers nothing: further ones fail at once.
  private let limit = 1_000

  /// `own`: our own address.
  public init(own: JID) {
    self.own = own
  }

  /// The address that the server bound.
  public mutating func bind(to own: JID) {
    self.own = own
  }

  public var isEmpty: Bool { pending.isEmpty }

  /// Remembers a request. False when too many are open.
  public mutating func expect(
    id: String, from to: JID?, until deadline: ContinuousClock.Instant, _ handler: Handler
  ) -> Bool {
    guard pending.count < limit else { return false }
    pending[id] = Pending(to: to, deadline: deadline, handler: handler)
    return true
  }

  /// The handler of the request that `answer` belongs to; nil when we never asked this, or not of this sender.
  public mutating func take(_ answer: IQ) -> Handler? {
    guard !answer.isRequest, let open = pending[answer.id], mayAnswer(answer.from, for: open.to) else { return nil }
    pending[answer.id] = nil
    return open.handler
  }

  /// The handlers of requests whose time is up.
  public mutating func expired(at now: ContinuousClock.Instant) -> [Handler] {
    let late = pending.filter { $0.value.deadline <= now }
    for id in late.keys { pending[id] = nil }
    return late.map(\.value.handler)
  }

  /// When the next request will be overdue.
  public var nextDeadline: ContinuousClock.Instant? { pending.values.map(\.deadline).min() }

  /// All open requests: the stream is gone.
  public mutating func removeAll() -> [Handler] {
    defer { pending = [:] }
    return pending.map(\.value.handler)
  }

  /// RFC 6120 sections 8.1.2.1 and 10.3.3: what is sent to no one the server answers for the account, without an address
  /// or with the account's; servers that write our full address or their own are known, and nobody else can write those.
  /// Other resources of the account may not: each is as strange as any contact.
  private func mayAnswer(_ from: JID?, for to: JID?) -> Bool {
    // Only our own server can leave the address out.
    guard let from else { return to == nil || to?.isSameAccount(as: own) == true || to == own.server }
    guard let to, to != own.bare else { return from == own.bare || from == own || from == own.server }
    return from == to
  }
}
