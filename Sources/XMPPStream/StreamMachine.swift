import JID
import SASL
import XML
import XMPPStanzas

/// The client's side of stream negotiation (RFC 6120 sections 4 to 7): TLS, SASL, resource binding.
///
/// A pure state machine: the owner tells it what came in, it says what to do. It owns no socket, no clock and no
/// randomness.
public struct StreamMachine: Sendable {
  /// How far to go.
  public enum Goal: Sendable, Hashable {
    /// Until stanzas may flow.
    case online
    /// Until the server's features inside TLS are known, without logging in (for registration and checks).
    case features
  }

  public struct Account: Sendable {
    /// Bare.
    public var jid: JID
    public var resource: String?
    public var credentials: Credentials
    /// The session to take up again, and the full address that it has.
    public var resumption: (request: Resumption, jid: JID)?

    public init(
      jid: JID, resource: String?, credentials: Credentials, resumption: (request: Resumption, jid: JID)? = nil
    ) {
      self.jid = jid
      self.resource = resource
      self.credentials = credentials
      self.resumption = resumption
    }
  }

  /// What an online stream carries.
  public enum Continuity: Sendable {
    /// A new session; with the server's `<enabled/>` if it is managed (XEP-0198, section 3).
    case new(enabled: Element?)
    /// The session that was to be resumed; the server has so many of our stanzas (section 5).
    case resumed(h: UInt32)
  }

  public enum Action: Sendable {
    /// Forget the parser, take a new one, and send these bytes, the stream's header.
    case open(String)
    case send(Element)
    /// Begin the TLS handshake now.
    case startTLS
    /// The phase that begins must end within `Phase.deadline`.
    case phase(Phase)
    /// The goal `features` is reached.
    case features(StreamFeatures)
    /// The session that was to be resumed is gone; the server had so many of our stanzas, if it says so. The way to a
    /// new one goes on.
    case resumptionFailed(h: UInt32?)
    /// The goal `online` is reached under this full address.
    case online(JID, StreamFeatures, Continuity)
    case fail(StreamFailure)
  }

  /// A part of the negotiation, each with a deadline of its own.
  public enum Phase: String, Sendable {
    case header = "the stream header"
    case startTLS = "STARTTLS"
    case handshake = "the TLS handshake"
    case authentication = "the login"
    case bind = "binding the resource"
    case session = "establishing the session"
    case resumption = "resuming the session"
    case management = "enabling stream management"

    public var deadline: Duration { .seconds(15) }
  }

  private enum State: Sendable {
    case header
    case features
    case proceed
    case handshake
    case authenticating(SASLClient, StreamFeatures)
    /// With the resource of our choice, or with one of the server's.
    case binding(StreamFeatures, ownResource: Bool)
    case establishing(JID, StreamFeatures)
    case resuming(StreamFeatures, Resumption, JID)
    case enabling(JID, StreamFeatures)
    case online
    case over
  }

  private let account: Account
  private let goal: Goal
  private var state = State.header
  private var isSecure = false
  private var isAuthenticated = false
  private var channelBinding = ChannelBindingData()
  /// We asked for the session, and have no good answer.
  public private(set) var waitsForResumption = false
  /// The login that succeeded, to be remembered for the next one.
  public private(set) var login: Login?
  /// What the server offered for the login.
  public private(set) var loginFeatures: StreamFeatures?

  public init(_ account: Account, goal: Goal = .online) {
    self.account = account
    self.goal = goal
  }

  /// True when stanzas may flow.
  public var isOnline: Bool { if case .online = state { true } else { false } }

  /// Bound already, so that stanzas may come, but not yet online.
  public var isEnabling: Bool { if case .enabling = state { true } else { false } }

  /// The connection stands; with direct TLS the handshake is done already.
  public mutating func connected(tls binding: ChannelBindingData?) -> [Action] {
    if let binding {
      isSecure = true
      channelBinding = binding
    }
    return openStream()
  }

  /// The handshake that `startTLS` asked for is done.
  public mutating func secured(_ binding: ChannelBindingData) -> [Action] {
    guard case .handshake = state else { return [] }
    isSecure = true
    channelBinding = binding
    return openStream()
  }

  /// The server's stream header.
  public mutating func opened(_ header: Element) -> [Action] {
    guard case .header = state else { return violation("invalid-xml", "a second stream header") }
    guard header.isNamed("stream", Namespace.stream) else {
      return violation("invalid-namespace", "the stream begins with <\(header.name)/>")
    }
    guard let version = header["version"], version == "1" || version.hasPrefix("1.") else {
      return violation("unsupported-version", "stream version '\(header["version"] ?? "none")'")
    }
    state = .features
    return []
  }

  /// A first-level element that is no stanza of an online stream.
  public mutating func received(_ element: Element) -> [Action] {
    if element.isNamed("error", Namespace.stream) { return streamError(StreamError(element)) }
    switch state {
    case .features:
      guard element.isNamed("features", Namespace.stream) else { return unexpected(element) }
      return negotiate(StreamFeatures(element))
    case .proceed: return proceed(element)
    case .authenticating(let client, let features): return authenticate(client, features, element)
    case .binding(let features, let ownResource): return bound(element, features, ownResource)
    case .establishing(let jid, let features): return established(element, jid, features)
    case .resuming(let features, let request, let jid): return resumed(element, features, request, jid)
    case .enabling(let jid, let features): return enabled(element, jid, features)
    case .online where element.isNamed("features", Namespace.stream): return []
    case .over: return []
    default: return unexpected(element)
    }
  }

  /// The server closed the stream.
  public mutating func closed() -> [Action] {
    fail(.closed)
  }

  // MARK: - Phases

  private mutating func openStream() -> [Action] {
    state = .header
    // The address is told only inside TLS (RFC 6120 section 4.7.1).
    // A normalised bare address holds nothing that XML would have to escape (RFC 7622 section 3.3.1).
    let from = isSecure ? " from='\(account.jid)'" : ""
    let header =
      "<?xml version='1.0'?><stream:stream xmlns='\(Namespace.client)' xmlns:stream='\(Namespace.stream)'"
      + " to='\(account.jid.domain)'\(from) version='1.0' xml:lang='en'>"
    return [.phase(.header), .open(header)]
  }

  private mutating func negotiate(_ features: StreamFeatures) -> [Action] {
    if !isSecure {
      guard features.startTLS else { return fail(.tlsMissing) }
      state = .proceed
      return [.phase(.startTLS), .send(Element("starttls", Namespace.tls))]
    }
    if !isAuthenticated {
      if goal == .features {
        state = .online
        return [.features(features)]
      }
      return startAuthentication(features)
    }
    guard let (request, jid) = account.resumption else { return bind(features) }
    guard features.streamManagement else { return [.resumptionFailed(h: nil)] + bind(features) }
    state = .resuming(features, request, jid)
    waitsForResumption = true
    let resume = Element(
      "resume", Namespace.streamManagement, [("h", String(request.handled)), ("previd", request.id)])
    return [.phase(.resumption), .send(resume)]
  }

  private mutating func bind(_ features: StreamFeatures) -> [Action] {
    guard features.bind else { return violation("undefined-condition", "no resource binding is offered") }
    return bind(features, account.resource)
  }

  // XEP-0198 section 5.
  private mutating func resumed(
    _ element: Element, _ features: StreamFeatures, _ request: Resumption, _ jid: JID
  ) -> [Action] {
    let h = element["h"].flatMap(UInt32.init)
    if element.isNamed("failed", Namespace.streamManagement) {
      waitsForResumption = false
      return [.resumptionFailed(h: h)] + bind(features)
    }
    guard element.isNamed("resumed", Namespace.streamManagement), element["previd"] == request.id, let h else {
      return unexpected(element)
    }
    waitsForResumption = false
    state = .online
    return [.online(jid, features, .resumed(h: h))]
  }

  /// Without a resource the server makes one.
  private mutating func bind(_ features: StreamFeatures, _ resource: String?) -> [Action] {
    state = .binding(features, ownResource: resource != nil)
    let children = resource.map { [Element("resource", Namespace.bind, text: $0)] } ?? []
    let request = IQ(
      .set, id: resource == nil ? "bind-any" : "bind", payload: Element("bind", Namespace.bind, [], children))
    return [.phase(.bind), .send(request.element)]
  }

  private mutating func proceed(_ element: Element) -> [Action] {
    guard element.isNamed("proceed", Namespace.tls) else {
      return element.isNamed("failure", Namespace.tls)
        ? fail(.tls("the server could not start TLS; look into its log", isCertificate: false)) : unexpected(element)
    }
    state = .handshake
    return [.phase(.handshake), .startTLS]
  }

  /// `guessFailed`: the server did not know the channel binding that we took a guess at.
  private mutating func startAuthentication(_ features: StreamFeatures, guessFailed: Bool = false) -> [Action] {
    loginFeatures = features
    do {
      let choice = try MechanismPolicy.choose(
        offered: features.mechanisms, offeredBindings: features.channelBindings, available: channelBinding,
        tls: isSecure, floor: account.credentials.floor, guessFailed: guessFailed)
      var client = try SASLClient(
        choice: choice, username: account.jid.local ?? "", password: account.credentials.password,
        nonce: account.credentials.nonce(), saltedPassword: account.credentials.saltedPassword)
      let initial = client.start()
      state = .authenticating(client, features)
      let auth = Element(
        "auth", Namespace.sasl, [("mechanism", choice.mechanism.rawValue)], text: SASLPayload.initialResponse(initial))
      return [.phase(.authentication), .send(auth)]
    } catch {
      return fail(.authentication(error))
    }
  }

  private mutating func authenticate(
    _ before: SASLClient, _ features: StreamFeatures, _ element: Element
  ) -> [Action] {
    guard element.namespace == Namespace.sasl else { return unexpected(element) }
    var client = before
    do {
      switch element.name {
      case "challenge":
        let response = try client.respond(to: try SASLPayload.decode(element.text))
        state = .authenticating(client, features)
        return [.send(Element("response", Namespace.sasl, text: SASLPayload.response(response)))]
      case "success":
        let text = element.text
        try client.succeed(with: text.isEmpty ? nil : try SASLPayload.decode(text))
        isAuthenticated = true
        login = Login(floor: client.choice.floor, saltedPassword: client.saltedPassword)
        return openStream()
      case "failure":
        if client.mayRetryWithoutBinding { return startAuthentication(features, guessFailed: true) }
        let name = element.elements.first { $0.name != "text" }?.name ?? "not-authorized"
        let text = element.child("text", Namespace.sasl)?.text
        return fail(.authentication(.refused(name: name, text: text)))
      default: return unexpected(element)
      }
    } catch {
      return fail(.authentication(error))
    }
  }

  private mutating func bound(_ element: Element, _ features: StreamFeatures, _ ownResource: Bool) -> [Action] {
    guard let iq = answer(element, id: ownResource ? "bind" : "bind-any") else { return unexpected(element) }
    if let error = iq.error {
      // The server may know no way to give us this resource, but another one (RFC 6120 section 7.7.2).
      if ownResource, Self.isAboutResource(error.condition) { return bind(features, nil) }
      return fail(.bind(error))
    }
    guard let text = iq.payload?.child("jid", Namespace.bind)?.text, let jid = try? JID(received: text), jid.isFull,
      jid.isSameAccount(as: account.jid)
    else { return violation("undefined-condition", "the server bound an address that is not ours") }
    guard features.session else { return enable(jid, features) }
    state = .establishing(jid, features)
    let request = IQ(.set, id: "session", payload: Element("session", Namespace.session))
    return [.phase(.session), .send(request.element)]
  }

  private static func isAboutResource(_ condition: StanzaError.Condition) -> Bool {
    switch condition {
    case .conflict, .notAllowed, .badRequest, .jidMalformed, .notAcceptable: true
    default: false
    }
  }

  private mutating func established(_ element: Element, _ jid: JID, _ features: StreamFeatures) -> [Action] {
    guard let iq = answer(element, id: "session") else { return unexpected(element) }
    if let error = iq.error { return fail(.bind(error)) }
    return enable(jid, features)
  }

  // XEP-0198 section 3. Before the answer no stanza is sent: it would be in doubt whether it counts.
  private mutating func enable(_ jid: JID, _ features: StreamFeatures) -> [Action] {
    guard features.streamManagement else { return online(jid, features, enabled: nil) }
    state = .enabling(jid, features)
    return [.phase(.management), .send(Element("enable", Namespace.streamManagement, [("resume", "true")]))]
  }

  private mutating func enabled(_ element: Element, _ jid: JID, _ features: StreamFeatures) -> [Action] {
    guard element.namespace == Namespace.streamManagement else { return unexpected(element) }
    switch element.name {
    case "enabled": return online(jid, features, enabled: element)
    case "failed": return online(jid, features, enabled: nil)
    default: return unexpected(element)
    }
  }

  private func answer(_ element: Element, id: String) -> IQ? {
    guard element.isNamed("iq", Namespace.client), let iq = try? IQ(element), iq.id == id, !iq.isRequest else {
      return nil
    }
    return iq
  }

  private mutating func online(_ jid: JID, _ features: StreamFeatures, enabled: Element?) -> [Action] {
    state = .online
    return [.online(jid, features, .new(enabled: enabled))]
  }

  // MARK: - Ends

  private mutating func streamError(_ error: StreamError) -> [Action] {
    if error.condition == "see-other-host", let host = error.otherHost, !host.isEmpty {
      return fail(.redirected(to: host))
    }
    return fail(.streamError(error))
  }

  private mutating func unexpected(_ element: Element) -> [Action] {
    violation("unsupported-stanza-type", "<\(element.name) xmlns='\(element.namespace)'/> was not expected here")
  }

  private mutating func violation(_ condition: String, _ text: String) -> [Action] {
    fail(.violation(StreamError(condition, text)))
  }

  private mutating func fail(_ failure: StreamFailure) -> [Action] {
    if case .over = state { return [] }
    state = .over
    return [.fail(failure)]
  }
}
