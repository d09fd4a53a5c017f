import Crypto
import EventLoop
import JID
import SASL
import Transport
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// Plays scripts against a session: no network, no waiting, the same each time.
@LoopActor
public final class Conversation: SessionDelegate {
  public let clock: ManualClock
  public let dialer: ScriptedDialer
  public private(set) var session: Session
  /// What the session told its delegate and no script has looked at yet, one line each.
  public private(set) var events: [String] = []
  /// Called with each message, as the bot's own code would be.
  public var onMessage: (@LoopActor (Message, StreamManagement.HandledCount?) -> Void)?
  public var onCarbon: @LoopActor (CarbonCopy, StreamManagement.HandledCount?) -> Void = { _, _ in }
  public var onArchived: @LoopActor (ArchivedMessage, StreamManagement.HandledCount?) -> Void = { _, _ in }
  /// Called with the tokens of what the server has.
  public var onAcknowledged: @LoopActor ([String]) -> Void = { _ in }
  /// The bot's questions whether the server has what was sent are of no interest.
  public var hidesConfirmations = false
  /// What comes is stored only when `store` is called.
  public var isDiskSlow = false
  private var waiting: [StreamManagement.HandledCount] = []
  private var waitingCounts: [StreamManagement.HandledCount] = []
  /// What the session wants to be kept for another process.
  public private(set) var suspended: SuspendedStream?
  private var names: [String: String] = [:]
  private var parser = StreamParser()
  private var heard: [Element] = []

  /// What every script may take for granted: bot@example.org, with the password `secret`, resource `r`.
  public static func options() throws -> SessionOptions {
    var options = SessionOptions(
      account: try JID("bot@example.org"), resource: "r",
      request: ConnectionRequest(domain: "example.org", host: nil, port: nil, mode: .auto),
      software: Software(name: "bot", version: "1", node: "https://example.org/bot"))
    options.status = "here"
    return options
  }

  /// `random` decides what chance would decide: in 0..<1.
  public init(
    _ options: SessionOptions, roster: Roster = Roster(), suspended: SuspendedStream? = nil, random: Double = 0.5
  ) {
    clock = ManualClock()
    dialer = ScriptedDialer()
    let identifiers = Box(0)
    let environment = SessionEnvironment(
      dialer: dialer, scheduler: clock, wallClock: { 1_000_000_000_000_000 }, random: { random },
      randomIdentifier: {
        identifiers.value += 1
        return "id\(identifiers.value)-"
      },
      credentials: { Credentials(password: SecretBytes("secret".utf8), nonce: { "fyko+d2lbbFgONRv9qkxdawL" }) })
    session = Session(options, roster: roster, suspended: suspended, environment: environment)
    session.delegate = self
    session.start()
  }

  /// A bot that has just come online; `roster` is what it remembers.
  public static func online(_ options: SessionOptions? = nil, roster: Roster = Roster()) throws -> Conversation {
    let conversation = Conversation(try options ?? Self.options(), roster: roster)
    try conversation.play(Greeting.online)
    return conversation
  }

  /// The same on a server with stream management: the stream is managed as `sm1`.
  public static func managed(_ options: SessionOptions? = nil) throws -> Conversation {
    let conversation = Conversation(try options ?? Self.options())
    try conversation.play(Greeting.managed)
    return conversation
  }

  /// Plays with a session that has a delegate of its own; no events are heard here.
  public init(with session: Session, over dialer: ScriptedDialer, clock: ManualClock) {
    self.session = session
    self.dialer = dialer
    self.clock = clock
  }

  /// What the bot has said so far is of no interest.
  public func skip() {
    listen()
    heard = []
  }

  /// The server answers what the bot asked about it and the account: both have `features`; and whether it listens. What
  /// the bot has said so far is of no interest.
  public func answerDiscovery(features: [String] = []) throws {
    listen()
    let requests = heard.filter { $0.name == "iq" && $0.child("query", Namespace.discoInfo) != nil }
    let pings = heard.filter { $0.child("ping", Namespace.ping) != nil }
    heard = []
    for ping in pings { try stream().deliver("<iq type='result' id='\(ping["id"] ?? "")' from='example.org'/>") }
    for request in requests {
      try stream().deliver(
        """
        <iq type='result' id='\(request["id"] ?? "")' from='\(request["to"] ?? "")' to='bot@example.org/r'>
        <query xmlns='http://jabber.org/protocol/disco#info'>\(features.map { "<feature var='\($0)'/>" }.joined())</query></iq>
        """)
    }
  }

  /// Plays `text`; throws where it goes another way.
  public func play(_ text: String) throws {
    for line in try Script(text).lines {
      do {
        try perform(line.step)
      } catch let error as Surprise {
        throw ScriptError(line: line.number, reason: error.reason)
      }
    }
  }

  private struct Surprise: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private func perform(_ step: Script.Step) throws {
    switch step {
    case .server(let xml): try stream().deliver(substituted(xml))
    case .bot(let xml): try expect(xml)
    case .silence:
      listen()
      if let element = heard.first { throw Surprise("the bot said \(element.xml)") }
    case .connects, .connectsDirectly:
      let security: Security = step == .connects ? .starttls : .direct
      guard dialer.accept(security) else { throw Surprise("the bot does not connect") }
      parser = StreamParser()
      // Names stand for ids, and a new stream has new ones.
      names = [:]
    case .cannotConnect(let reason):
      guard dialer.refuse(.unreachable(reason)) else { throw Surprise("the bot does not connect") }
    case .handshake:
      listen()
      parser = StreamParser()
      guard let info = Self.security, try stream().completeTLS(.success(info)) else {
        throw Surprise("the bot began no TLS")
      }
    case .after(let duration): clock.advance(by: duration)
    case .lost: try stream().lose(.connectionLost("reset"))
    case .closes:
      listen()
      guard try stream().isClosed else { throw Surprise("the connection still stands") }
    case .event(let expected):
      guard let index = events.firstIndex(where: { $0.hasPrefix(expected) }) else {
        throw Surprise("no such event, but \(events)")
      }
      events.removeSubrange(...index)
    }
  }

  private func stream() throws -> ScriptedStream {
    guard let stream = dialer.stream else { throw Surprise("there is no connection") }
    return stream
  }

  private func expect(_ xml: String) throws {
    listen()
    guard !heard.isEmpty else { throw Surprise("the bot says nothing, instead of \(xml)") }
    let actual = heard.removeFirst()
    if xml == "<stream:stream>" || xml == "</stream:stream>" {
      guard actual.isNamed(xml, "") else { throw Surprise("the bot says \(actual.xml)") }
      return
    }
    guard let expected = Self.parse(substituted(xml)) else { throw Surprise("this is no XML: \(xml)") }
    guard Expectation(element: expected).matches(actual, &names) else {
      throw Surprise("the bot says \(actual.xml)")
    }
  }

  /// `text` with each name that is bound replaced by its value.
  private func substituted(_ text: String) -> String {
    var parts = text.split(separator: "$", omittingEmptySubsequences: false)
    var result = String(parts.removeFirst())
    for part in parts {
      let name = part.prefix { $0.isLetter || $0.isNumber }
      result += (names[String(name)] ?? "$" + name) + part.dropFirst(name.count)
    }
    return result
  }

  /// Takes apart what the bot has written since.
  private func listen() {
    guard let stream = dialer.stream else { return }
    var bytes = stream.written
    stream.written = []
    while !bytes.isEmpty {
      // A stream that begins anew begins with an XML declaration.
      let declaration = Array("<?xml".utf8)
      let next = bytes.dropFirst().indices.first { bytes[$0...].starts(with: declaration) } ?? bytes.count
      if bytes.starts(with: declaration) { parser = StreamParser() }
      let part = Array(bytes[..<next])
      bytes.removeFirst(next)
      do {
        try part.withUnsafeBytes { buffer in
          try parser.parse(buffer) { event in
            switch event {
            case .opened: heard.append(Element("<stream:stream>", ""))
            case .element(let element), .skipped(let element, _):
              if !(hidesConfirmations && Self.asksForConfirmation(element)) { heard.append(element) }
            case .closed: heard.append(Element("</stream:stream>", ""))
            }
          }
        }
      } catch {
        heard.append(Element("unreadable", "", text: "\(error)"))
      }
    }
  }

  private static func asksForConfirmation(_ element: Element) -> Bool {
    element.isNamed("r", Namespace.streamManagement)
      || element.name == "iq" && element.child("ping", Namespace.ping) != nil
  }

  /// What a scripted handshake gives: nothing that a login could be bound to, so that logins are the same each time.
  private static let security = PublicKeyPin("sha256:" + Base64.encode([UInt8](repeating: 7, count: 32))).map { key in
    TLSInfo(
      version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", alpn: nil,
      certificate: CertificateSummary(
        subject: "CN=example.org", issuer: "CN=Scripted CA", notAfter: 2_000_000_000, publicKey: key),
      tlsExporter: nil, tlsServerEndPoint: nil)
  }

  private static func parse(_ xml: String) -> Element? {
    let parser = StreamParser()
    var found: Element?
    let text =
      "<stream:stream xmlns='\(Namespace.client)' xmlns:stream='\(Namespace.stream)' version='1.0'>" + xml
    try? Array(text.utf8).withUnsafeBytes { buffer in
      try parser.parse(buffer) { event in
        if case .element(let element) = event { found = element }
      }
    }
    return found
  }

  // MARK: - SessionDelegate

  public func session(_ session: Session, entered state: SessionState) {
    switch state {
    case .connecting: events.append("connecting")
    case .online(let info):
      switch info.continuity {
      case .new: events.append("online as \(info.jid)")
      case .resumed: events.append("resumed as \(info.jid)")
      case .adopted: events.append("adopted as \(info.jid)")
      }
    case .waiting(let failure, let delay): events.append("waiting \(delay): \(failure)")
    case .stopped: events.append("stopped")
    }
  }

  public func session(_ session: Session, noticed notice: SessionNotice) {
    switch notice {
    case .connected: break
    case .redirected(let host): events.append("redirected to \(host)")
    case .triesNextServer(let failure): events.append("tries the next server: \(failure)")
    case .refused(let reason): events.append("refused: \(reason)")
    case .subscriptionAccepted(let jid): events.append("accepted \(jid)")
    case .subscriptionRefused(let jid): events.append("turned down \(jid)")
    case .notPublished(let reason): events.append("not published: \(reason)")
    case .setAside(let element): events.append("set aside \(element["id"] ?? element.name)")
    case .skippedUnreadable(let error): events.append("skipped: \(error)")
    }
  }

  public func session(
    _ session: Session, received message: Message, as element: Element, number: StreamManagement.HandledCount?
  ) {
    events.append("message from \(message.from?.description ?? "nobody"): \(message.body ?? "")")
    if let onMessage { return onMessage(message, number) }
    if let number { waiting.append(number) }
    if !isDiskSlow { store() }
  }

  /// The disk has done its work: all messages that came, and then the counts that were asked for, are stored.
  public func store() {
    let messages = waiting
    waiting = []
    for number in messages { if let count = session.handOver(number) { session.stored(count) } }
    let counts = waitingCounts
    waitingCounts = []
    for count in counts { session.stored(count) }
  }

  public func session(_ session: Session, received carbon: CarbonCopy, number: StreamManagement.HandledCount?) {
    events.append("carbon: \(carbon.message.body ?? "")")
    onCarbon(carbon, number)
    if let number { session.take(number) }
  }

  public func session(_ session: Session, received archived: ArchivedMessage, number: StreamManagement.HandledCount?) {
    events.append("archived \(archived.id): \(archived.message.body ?? "")")
    onArchived(archived, number)
    if let number { session.take(number) }
  }

  public func sessionDiscovered(_ session: Session) {}

  public func session(_ session: Session, acknowledged tokens: [String]) {
    events.append("acknowledged \(tokens.joined(separator: " "))")
    onAcknowledged(tokens)
  }

  public func session(_ session: Session, acknowledgedUpTo token: String) {
    events.append("acknowledged up to \(token)")
  }

  public func session(_ session: Session, setAside token: String) { events.append("failed \(token)") }

  public func session(_ session: Session, stores stream: SuspendedStream?) { suspended = stream }

  public func session(_ session: Session, stores count: StreamManagement.HandledCount) {
    waitingCounts.append(count)
    if !isDiskSlow { store() }
  }

  public func session(_ session: Session, changed roster: Roster, by change: Roster.Change) {
    let contacts = roster.items.keys.map(\.description).sorted().joined(separator: " ")
    events.append("roster \(roster.version ?? "?"): \(contacts)")
  }

  public func sessionDrained(_ session: Session) {
    events.append("drained")
  }
}
