import EventLoop
import JID
import Transport
import XMPPStanzas
import XML
import XMPPStream

/// What a session is to be. `Session.update` says what takes effect when it changes.
public struct SessionOptions: Sendable {
  /// Bare.
  public var account: JID
  public var resource: String
  public var request: ConnectionRequest
  public var priority: Int8 = 0
  public var status: String?
  public var nickname: String?
  public var avatar: Avatar?
  public var keepaliveInterval = Duration.seconds(60)
  public var keepaliveTimeout = Duration.seconds(20)
  public var software: Software
  /// Who may subscribe to the bot's presence.
  public var acceptsSubscription: @Sendable (JID) -> Bool = { _ in true }
  /// The roster group that contacts are put into.
  public var group = "Bot users"
  /// What a `RequestService` answers, as disco#info tells it (XEP-0030); settled when the session is made.
  public var features: Set<String> = []

  public init(account: JID, resource: String, request: ConnectionRequest, software: Software) {
    self.account = account
    self.resource = resource
    self.request = request
    self.software = software
  }
}

/// What the bot says of itself (XEP-0092, XEP-0115).
public struct Software: Sendable {
  public var name: String
  public var version: String
  /// The address that names the software in XEP-0115.
  public var node: String

  public init(name: String, version: String, node: String) {
    self.name = name
    self.version = version
    self.node = node
  }
}

/// The session's edges: time, chance, the network, and what is remembered between streams.
public struct SessionEnvironment {
  public var dialer: any Dialer
  public var scheduler: any Scheduler
  /// Microseconds since 1970, UTC.
  public var wallClock: @LoopActor () -> Int64
  /// In 0..<1.
  public var random: @LoopActor () -> Double
  /// A text that nobody can guess, another each time.
  public var randomIdentifier: @LoopActor () -> String
  public var credentials: @LoopActor () -> Credentials
  /// A login succeeded: what it leaves is for `credentials` to give back.
  public var loggedIn: @LoopActor (Login) -> Void
  /// Called for each element in and out (`[log] xml`).
  public var trace: (@LoopActor (_ isOutgoing: Bool, Element) -> Void)?

  public init(
    dialer: any Dialer, scheduler: any Scheduler, wallClock: @escaping @LoopActor () -> Int64,
    random: @escaping @LoopActor () -> Double, randomIdentifier: @escaping @LoopActor () -> String,
    credentials: @escaping @LoopActor () -> Credentials, loggedIn: @escaping @LoopActor (Login) -> Void = { _ in },
    trace: (@LoopActor (Bool, Element) -> Void)? = nil
  ) {
    self.dialer = dialer
    self.scheduler = scheduler
    self.wallClock = wallClock
    self.random = random
    self.randomIdentifier = randomIdentifier
    self.credentials = credentials
    self.loggedIn = loggedIn
    self.trace = trace
  }
}

/// What the session is doing.
public enum SessionState: Sendable {
  case connecting
  case online(OnlineInfo)
  /// Offline because of the failure; the next attempt comes after so long.
  case waiting(StreamFailure, Duration)
  case stopped
}

/// How we are online.
public struct OnlineInfo: Sendable {
  /// What the stream carries on.
  public enum Continuity: Sendable, Hashable {
    /// Nothing: a new session.
    case new
    /// Our last stream (XEP-0198).
    case resumed
    /// The stream of an earlier process.
    case adopted
  }

  public var continuity = Continuity.new
  /// Full.
  public var jid: JID
  public var security: TLSInfo?
  public var login: Login?
  public var since: ContinuousClock.Instant
}

/// What happened on the stream that an operator may want to know.
public enum SessionNotice: Sendable {
  case connected(Endpoint)
  case redirected(String)
  /// One of the domain's servers failed; the next is tried at once.
  case triesNextServer(StreamFailure)
  /// Something that came in and was not acted upon, and why.
  case refused(String)
  case subscriptionAccepted(JID)
  case subscriptionRefused(JID)
  /// The server did not take our nickname or avatar, and why.
  case notPublished(String)
  /// The stream died each time that this was sent; it is not sent again.
  case setAside(Element)
  /// What the server sent broke the stream each time; it is not asked for again.
  case skippedUnreadable(StreamError)
}

@LoopActor
public protocol SessionDelegate: AnyObject {
  func session(_ session: Session, entered state: SessionState)
  func session(_ session: Session, noticed notice: SessionNotice)
  /// A message that passed `OriginPolicy`; `element` is what came over the wire. With a number it must be given to
  /// `Session.handOver` or `Session.take`.
  func session(
    _ session: Session, received message: Message, as element: Element, number: StreamManagement.HandledCount?)
  /// What another device of the account sent or received; with a number as above.
  func session(_ session: Session, received carbon: CarbonCopy, number: StreamManagement.HandledCount?)
  /// A result of `Session.query`; with a number as above.
  func session(_ session: Session, received archived: ArchivedMessage, number: StreamManagement.HandledCount?)
  /// The server told what it and the account can do (`serverFeatures`), or did not in time.
  func sessionDiscovered(_ session: Session)
  /// The server has the messages that were sent with these tokens, in this order.
  func session(_ session: Session, acknowledged tokens: [String])
  /// The same of all messages that the earlier process sent, up to the one with this token.
  func session(_ session: Session, acknowledgedUpTo token: String)
  /// The message that was sent with this token must not be sent again.
  func session(_ session: Session, setAside token: String)
  /// The stream is resumed, and whether the server has these messages is not sure: the owner finds out, and sends again
  /// those that it has not. Called before `entered`, and only when `Session.handsBack` is set.
  func session(_ session: Session, handsBack tokens: [String])
  /// What to resume is to be stored, in place of what was; nil: nothing can be.
  func session(_ session: Session, stores stream: SuspendedStream?)
  /// This count is to be stored, and then given to `Session.stored`.
  func session(_ session: Session, stores count: StreamManagement.HandledCount)
  func session(_ session: Session, changed roster: Roster, by change: Roster.Change)
  /// Somebody is there, or is not (RFC 6121 section 4), as far as `OriginPolicy` believes it.
  func session(_ session: Session, received presence: Presence)
  /// All that was written has been taken by the system.
  func sessionDrained(_ session: Session)
}

extension SessionDelegate {
  public func session(_ session: Session, received presence: Presence) {}
  public func session(_ session: Session, handsBack tokens: [String]) {}
}

/// Ids for our messages: unique for ever, and short. Who got one can tell what the next will be; requests, whose ids
/// nobody may guess, have others.
struct StanzaIDs {
  private let prefix: String
  private var counter: UInt64 = 0

  /// `random`: a text that no other session has.
  init(random: String) { prefix = random }

  mutating func next() -> String {
    counter += 1
    return prefix + String(counter, radix: 36)
  }
}
