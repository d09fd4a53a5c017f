import Daemon
import EventLoop
import Glibc
import JID
import Transport
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// Tells of each step as it succeeds, and then of what the server can do; a step that fails ends the check with its
/// reason and remedy.
@LoopActor
final class CheckReport: ExchangeStep {
  /// More items of a server than this are not asked what they are.
  private static let mostItems = 20

  private let account: JID
  private let isPinned: Bool
  private let json: Bool
  private var abilities: ServerAbilities?
  /// Whom we have asked what, by the question's id.
  private var questions: [String: JID] = [:]
  private var asked = 0

  nonisolated init(_ account: Settings.Account, json: Bool) {
    self.account = account.jid
    isPinned = !account.publicKeyPins.isEmpty
    self.json = json
  }

  private func tell(_ line: CheckLine) { line.print(asJSON: json) }

  func planned(_ targets: [Endpoint], fromRecords: Bool) {
    let list = targets.prefix(4).map(\.description).joined(separator: ", ") + (targets.count > 4 ? ", …" : "")
    tell(CheckLine("DNS", fromRecords ? "SRV: \(list)" : "no SRV records, so the domain itself: \(list)"))
  }

  func observe(_ event: StreamLink.Event) {
    switch event {
    case .connected(let endpoint): tell(CheckLine("connection", "\(endpoint)"))
    case .secured(let info):
      tell(CheckLine("TLS", "\(info.version), \(info.cipher)"))
      let certificate = info.certificate
      tell(
        CertificateAge.line(
          subject: certificate.subject, key: "\(certificate.publicKey)", end: certificate.notAfter,
          now: Int64(time(nil))))
    case .online(let jid, _, _): tell(CheckLine("login", "\(jid.bare)"))
    default: break
    }
  }

  func begin(_ exchange: Exchange, features: StreamFeatures) {
    abilities = ServerAbilities(
      loginFeatures: exchange.loginFeatures, features: features, login: exchange.login?.floor, isPinned: isPinned)
    ask(account.server, DiscoInfo.request(), exchange)
    ask(account, DiscoInfo.request(), exchange)
    ask(account.server, DiscoItems().element, exchange)
  }

  private func ask(_ entity: JID, _ query: Element, _ exchange: Exchange) {
    asked += 1
    let id = "ask\(asked)"
    questions[id] = entity
    exchange.send(IQ(.get, id: id, to: entity, payload: query).element)
  }

  func receive(_ element: Element, _ exchange: Exchange) {
    guard let iq = try? IQ(element), !iq.isRequest, let entity = questions.removeValue(forKey: iq.id) else { return }
    if let payload = iq.payload {
      if let info = DiscoInfo(payload) { learn(info, of: entity, payload) }
      if payload.isNamed("query", Namespace.discoItems) {
        let items = UploadService.candidates(payload).filter { $0 != account.server }
        for item in items.prefix(Self.mostItems) { ask(item, DiscoInfo.request(), exchange) }
      }
    }
    guard questions.isEmpty else { return }
    abilities?.lines.forEach(tell)
    exchange.finish(nil)
  }

  private func learn(_ info: DiscoInfo, of entity: JID, _ payload: Element) {
    if entity == account.server { tell(CheckLine("server", info.identities.first?.name ?? account.domain)) }
    if entity == account || entity == account.server {
      abilities?.discovered.formUnion(info.features)
      if info.has(identity: "pubsub", "pep") { abilities?.hasPEP = true }
    }
    if abilities?.upload == nil { abilities?.upload = UploadService(entity, info: payload) }
  }
}
