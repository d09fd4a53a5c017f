import Archive
import Daemon
import EventLoop
import Glibc
import JID
import Transport
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

extension Verb {
  static let check = Verb(
    path: ["check"], options: [Option("--offline", nil, "only what needs no network")],
    summary: "Configuration, network, TLS and login, step by step",
    details: "One line for each step that succeeds; the first failure ends it, with what to do about it."
  ) { call throws(ControlFailure) in
    let settings = try call.settings()
    CheckReport.good("configuration", settings.file)
    let account = try AccountAccess(call)
    CheckReport.good("password", account.passwordSource)
    try checkArchive(settings.archive.path)
    guard call.options["--offline"] == nil else { return }
    let report = CheckReport(account.settings)
    try Exchange.run(account, goal: .online) { report }
  }

  private static func checkArchive(_ path: String) throws(ControlFailure) {
    guard access(path, F_OK) == 0 else { return try checkPlace(ofArchive: path) }
    do throws(ArchiveError) {
      let statistics = try ArchiveReader.open(path: path).statistics()
      CheckReport.good("archive", "\(path), \(statistics.count) messages")
    } catch {
      throw ControlFailure(error.exitCode, "archive: \(error)")
    }
  }

  /// The daemon makes the archive and its folder, but not the folders above.
  private static func checkPlace(ofArchive path: String) throws(ControlFailure) {
    func parent(_ path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) + "/" } ?? "." }
    let folder = String(parent(path).dropLast())
    guard access(parent(path), F_OK) == 0 || access(parent(folder), F_OK) == 0 else {
      throw ControlFailure(.failed, "archive: the folder \(folder) does not exist; create it for the daemon's user")
    }
    CheckReport.good("archive", "\(path) (not there yet)")
  }
}

/// Tells of each step as it succeeds; a step that fails ends the check with its reason and remedy.
@LoopActor
final class CheckReport: ExchangeStep {
  private let settings: Settings

  nonisolated init(_ settings: Settings) {
    self.settings = settings
  }

  nonisolated static func good(_ step: String, _ found: String) {
    print("ok  " + Table.padded(step, 14) + Terminal.safe(found))
    fflush(nil)
  }

  func observe(_ event: StreamLink.Event) {
    switch event {
    case .connected(let endpoint): Self.good("connection", "\(endpoint)")
    case .secured(let info):
      let end = Timestamp.format(info.certificate.notAfter * 1_000_000, wholeSeconds: true)
      Self.good("TLS", "\(info.version), \(info.cipher)")
      Self.good("certificate", "\(info.certificate.subject), until \(end), key \(info.certificate.publicKey)")
    case .online(let jid, _, _): Self.good("login", "\(jid.bare)")
    default: break
    }
  }

  func begin(_ exchange: Exchange, features: StreamFeatures) {
    exchange.send(IQ(.get, id: "disco", to: settings.account.jid.server, payload: DiscoInfo.request()).element)
  }

  func receive(_ element: Element, _ exchange: Exchange) {
    guard let iq = try? IQ(element), iq.id == "disco", !iq.isRequest else { return }
    let software = iq.payload.flatMap(DiscoInfo.init)?.identities.first?.name
    Self.good("server", software ?? settings.account.jid.domain)
    exchange.finish(nil)
  }
}
