import XML
import XMPPStanzas

/// Answers one kind of request that others send us. A pure value: request in, answer out.
protocol RequestResponder: Sendable {
  /// What it adds to our disco#info (XEP-0030).
  var features: [String] { get }
  func handles(_ payload: Element) -> Bool
  func answer(_ request: RequestContext) -> Result<Element?, StanzaError>
}

/// A request and what is needed to answer it.
struct RequestContext {
  let iq: IQ
  let payload: Element
  /// What we are (XEP-0030).
  let info: DiscoInfo
  /// The same as presence tells it.
  let caps: Caps
  /// Microseconds since 1970, UTC.
  let now: Int64
}

extension Session {
  /// All that we answer; anything else is `service-unavailable`.
  static func responders(_ software: Software) -> [any RequestResponder] {
    [PingResponder(), DiscoResponder(), VersionResponder(software: software), TimeResponder(), LastActivityResponder()]
  }
}

/// XEP-0199 (2.0.1): XMPP Ping.
struct PingResponder: RequestResponder {
  var features: [String] { [Namespace.ping] }
  func handles(_ payload: Element) -> Bool { payload.isNamed("ping", Namespace.ping) }

  func answer(_ request: RequestContext) -> Result<Element?, StanzaError> {
    request.iq.kind == .get ? .success(nil) : .failure(StanzaError(.modify, .badRequest))
  }
}

/// XEP-0092 (1.1): Software Version. The operating system is not told.
struct VersionResponder: RequestResponder {
  let software: Software
  var features: [String] { [Namespace.version] }
  func handles(_ payload: Element) -> Bool { payload.isNamed("query", Namespace.version) }

  func answer(_ request: RequestContext) -> Result<Element?, StanzaError> {
    guard request.iq.kind == .get else { return .failure(StanzaError(.cancel, .notAllowed)) }
    return .success(
      Element(
        "query", Namespace.version, [],
        [
          Element("name", Namespace.version, text: software.name),
          Element("version", Namespace.version, text: software.version),
        ]))
  }
}

/// XEP-0202 (2.0): Entity Time. Always UTC: where the machine stands is nobody's business.
struct TimeResponder: RequestResponder {
  var features: [String] { [Namespace.time] }
  func handles(_ payload: Element) -> Bool { payload.isNamed("time", Namespace.time) }

  func answer(_ request: RequestContext) -> Result<Element?, StanzaError> {
    guard request.iq.kind == .get else { return .failure(StanzaError(.cancel, .notAllowed)) }
    return .success(
      Element(
        "time", Namespace.time, [],
        [
          Element("tzo", Namespace.time, text: "+00:00"),
          Element("utc", Namespace.time, text: Timestamp.format(request.now, wholeSeconds: true)),
        ]))
  }
}

/// XEP-0012 (2.0): Last Activity. A bot that is online is never idle.
struct LastActivityResponder: RequestResponder {
  var features: [String] { [Namespace.lastActivity] }
  func handles(_ payload: Element) -> Bool { payload.isNamed("query", Namespace.lastActivity) }

  func answer(_ request: RequestContext) -> Result<Element?, StanzaError> {
    guard request.iq.kind == .get else { return .failure(StanzaError(.cancel, .notAllowed)) }
    return .success(Element("query", Namespace.lastActivity, [("seconds", "0")]))
  }
}

/// XEP-0030 (2.5): Service Discovery; the node of XEP-0115 gives the same information.
struct DiscoResponder: RequestResponder {
  var features: [String] { [Namespace.discoInfo, Namespace.discoItems] }

  func handles(_ payload: Element) -> Bool {
    payload.name == "query" && (payload.namespace == Namespace.discoInfo || payload.namespace == Namespace.discoItems)
  }

  func answer(_ request: RequestContext) -> Result<Element?, StanzaError> {
    guard request.iq.kind == .get else { return .failure(StanzaError(.cancel, .notAllowed)) }
    let node = request.payload["node"]
    guard node == nil || node == request.caps.discoNode else {
      return .failure(StanzaError(.cancel, .itemNotFound))
    }
    if request.payload.namespace == Namespace.discoItems {
      return .success(Element("query", Namespace.discoItems, [("node", node)]))
    }
    var info = request.info
    info.node = node
    return .success(info.element)
  }
}
