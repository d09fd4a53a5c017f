import JID
import XML
import XMPPStanzas

/// A session that may outlive its streams (XEP-0198 1.6): who has taken which stanzas. Pure.
///
/// *In*: the owner hands each stanza on, says so, and says what is stored; the server is told of what is stored alone.
/// *Out*: each stanza is kept until the server has it, and is sent again on the stream that resumes the session.
public struct StreamManagement: Sendable {
  /// What to do about something that the server said, or that the owner did.
  public enum Action: Sendable {
    case send(Element)
    /// This count is to be stored; `stored` follows.
    case store(HandledCount)
    /// The server has more of what was sent: the stanzas of these tokens, and others that have none.
    case acknowledged([String])
    /// The server broke the rules.
    case violation(StreamError)
  }

  /// How many stanzas of a session are handled: `<a h='…'/>`.
  public struct HandledCount: Sendable, Hashable {
    /// Tells the sessions of this process apart.
    let epoch: Int
    public let h: UInt32
  }

  /// The session's name at the server; nil when it can't be resumed.
  public let id: String?
  /// Where the server would like us to connect to when we resume.
  public let location: String?
  private let epoch: Int
  private var incoming: IncomingCount
  private var outgoing: OutgoingQueue
  /// With more than this that the server has not acknowledged, nothing new should be sent.
  public static let congestion = 2_000
  static let congestionBytes = 4 << 20

  /// A session that `enabled`, the server's answer, begins. `epoch`: another one each time.
  public init(enabled: Element, epoch: Int) {
    let mayResume = enabled["resume"] == "true" || enabled["resume"] == "1"
    id = mayResume ? enabled["id"] : nil
    location = enabled["location"]
    self.epoch = epoch
    incoming = IncomingCount()
    outgoing = OutgoingQueue(isNew: true)
  }

  /// A session of an earlier process.
  public init(suspended: SuspendedStream, epoch: Int) {
    id = suspended.id
    location = suspended.location
    self.epoch = epoch
    incoming = IncomingCount(stored: suspended.handled)
    outgoing = OutgoingQueue(isNew: false)
  }

  /// What `<resume/>` is to say; nil when the session can't be resumed.
  public var resumption: Resumption? { id.map { Resumption(id: $0, handled: incoming.stored) } }

  /// How many of the server's stanzas are stored when all writes that are under way are done.
  public var storedCount: UInt32 { incoming.storing }
  /// How many stanzas were sent in this session, modulo 2^32; nil when only the server knows.
  public var sentCount: UInt32? { outgoing.sentCount }
  /// Stanzas that the server has not acknowledged.
  public var unacknowledged: Int { outgoing.entries.count }
  public var isCongested: Bool { unacknowledged > Self.congestion || outgoing.bytes > Self.congestionBytes }
  /// The reserve above that is used up, too, which is there for answers to requests: many messages that are on their way keep
  /// nobody's ping from being answered.
  public var isExhausted: Bool { unacknowledged > 2 * Self.congestion || outgoing.bytes > 2 * Self.congestionBytes }
  /// We asked the server and have no answer yet.
  public var isWaiting: Bool { outgoing.isAsked }

  // MARK: - In

  /// A stanza came: its number; nil when it was here before the stream was resumed, and has been taken.
  public mutating func receive() -> HandledCount? {
    incoming.receive().map { HandledCount(epoch: epoch, h: $0) }
  }

  /// The stanza of that number is taken care of.
  public mutating func take(_ number: HandledCount) {
    if number.epoch == epoch { incoming.take(number.h) }
  }

  /// The count to store in the same transaction as what is handed in now; nil when `number` is of another session.
  public mutating func store(with number: HandledCount) -> HandledCount? {
    guard number.epoch == epoch else { return nil }
    incoming.take(number.h)
    return HandledCount(epoch: epoch, h: incoming.store())
  }

  /// That count is stored.
  public mutating func stored(_ count: HandledCount) -> [Action] {
    guard count.epoch == epoch, let h = incoming.stored(count.h) else { return [] }
    return [.send(Self.answer(h))]
  }

  /// Behind which stanza we are; nil while those come that were here before.
  public var place: UInt32? { incoming.place }

  /// The next stanza breaks our stream each time that it comes: it is taken for handled. The count to store.
  public mutating func skipNext() -> HandledCount {
    HandledCount(epoch: epoch, h: incoming.skipNext())
  }

  /// An element of XEP-0198 on the online stream.
  public mutating func received(_ element: Element) -> [Action] {
    switch element.name {
    case "r":
      switch incoming.asked() {
      case .tell(let h): return [.send(Self.answer(h))]
      case .store(let h): return [.store(HandledCount(epoch: epoch, h: h))]
      case .wait: return []
      }
    case "a":
      guard let h = element["h"].flatMap(UInt32.init) else {
        return [.violation(StreamError("bad-format", "<a/> without a number"))]
      }
      return acknowledge(h)
    default: return [.violation(StreamError("unsupported-stanza-type", "<\(element.name)/> of XEP-0198"))]
    }
  }

  /// What is said before the stream ends, unasked: what we have, and the question what the server has, though one may be
  /// open that covers less.
  public mutating func lastWords() -> [Element] {
    outgoing.forgetQuestion()
    return [Self.answer(incoming.stored)] + [question()].compactMap(\.self)
  }

  private static func answer(_ h: UInt32) -> Element {
    Element("a", Namespace.streamManagement, [("h", String(h))])
  }

  // MARK: - Out

  /// A stanza is sent. `time`: microseconds since 1970, UTC.
  /// `bytes`: what it takes on the wire.
  public mutating func send(_ stanza: Element, token: String?, at time: Int64, bytes: Int) {
    outgoing.append(stanza, token: token, at: time, bytes: bytes)
  }

  /// `<r/>`, when there is something to ask about and nothing asked.
  public mutating func question() -> Element? {
    outgoing.ask() ? Element("r", Namespace.streamManagement) : nil
  }

  private mutating func acknowledge(_ h: UInt32) -> [Action] {
    do {
      let before = unacknowledged
      let tokens = try outgoing.acknowledge(h)
      return unacknowledged == before ? [] : [.acknowledged(tokens)]
    } catch {
      return [.violation(error)]
    }
  }

  // MARK: - Resuming

  /// The server resumed the session, for which we had told it `told`; it has `h` of ours. `stanzas` gives what it has not.
  public mutating func resumed(h: UInt32, told: UInt32) -> [Action] {
    incoming.resume(from: told)
    outgoing.forgetQuestion()
    return acknowledge(h)
  }

  /// The session is gone; the server had `h` of ours, if it says so.
  public mutating func failed(h: UInt32?) -> [Action] {
    guard let h else { return [] }
    // What it says of a session that it does not have any more need not be true: too high a count is no violation.
    return acknowledge(h).filter { if case .violation = $0 { false } else { true } }
  }

  /// What the server has not acknowledged, in order: to be sent again. Messages say when they were sent first.
  public func resend(from own: JID) -> [Element] {
    outgoing.entries.map { entry in
      guard entry.token != nil, entry.element.name == "message", entry.element.child("delay", Namespace.delay) == nil,
        let delay = Delay(stamp: entry.time, from: own.bare.description).element
      else { return entry.element }
      var element = entry.element
      element.append(delay)
      return element
    }
  }

  /// The first stanza that the server has not acknowledged.
  public var first: (element: Element, token: String?)? {
    outgoing.entries.first.map { ($0.element, $0.token) }
  }

  /// Those with tokens are the owner's to send again, all of them; what they were.
  public mutating func takeBack() -> [String] { outgoing.takeBack() }

  /// The first one is not sent again.
  public mutating func dropFirst() { outgoing.dropFirst() }
}

/// What `<resume/>` says (XEP-0198, section 5).
public struct Resumption: Sendable, Hashable {
  public var id: String
  /// How many of the server's stanzas we have.
  public var handled: UInt32

  public init(id: String, handled: UInt32) {
    self.id = id
    self.handled = handled
  }
}
