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
  private let account: JID
  /// More than this many open requests means that a server answers nothing: further ones fail at once.
  private let limit = 1_000

  /// `account`: our bare address, which may answer what was asked of no one in particular.
  public init(account: JID) {
    self.account = account
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

  // RFC 6120 section 8.1.2.1: what is sent to no one is answered by the account itself, with or without its address.
  private func mayAnswer(_ from: JID?, for to: JID?) -> Bool {
    guard let to, to != account else { return from == nil || from == account || from?.bare == account }
    return from == to
  }
}
