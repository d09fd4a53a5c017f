import Glibc
import Testing

/// A real XMPP server on loopback, run by the scripts in Tests/Servers. Each kind is started once and shared.
final class Server: Sendable {
  enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case prosody, ejabberd
    var testDescription: String { rawValue }
  }

  static let scripts = String(#filePath.prefix(#filePath.count - "SystemTests/Harness/Server.swift".count)) + "Servers"

  private static let prosody = Result { try Server(.prosody) }
  private static let ejabberd = Result { try Server(.ejabberd) }

  static func shared(_ kind: Kind) throws -> Server {
    try (kind == .prosody ? prosody : ejabberd).get()
  }

  let kind: Kind
  private let folder: String
  private let environment: [String: String]

  private init(_ kind: Kind) throws {
    self.kind = kind
    folder = try Scratch.root.get() + "/servers/" + kind.rawValue
    let output = try Program.run([Self.scripts + "/" + kind.rawValue, "start", folder])
    let pairs = output.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    environment = Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
  }

  var host: String { environment["XMPP_HOST", default: ""] }
  var port: String { environment["XMPP_PORT", default: ""] }
  /// For TLS from the first byte (XEP-0368).
  var directPort: String { environment["XMPP_TLS_PORT", default: ""] }
  var domain: String { environment["XMPP_DOMAIN", default: ""] }
  /// The authority that signed the server's certificate.
  var authority: String { environment["XMPP_CA", default: ""] }
  var certificate: String { folder + "/certificates/server.pem" }
  var log: String { folder + "/server.log" }

  /// A new account with a name of its own.
  func account(_ name: String) throws -> Account {
    let account = Account(name: name + String(Counter.next()), domain: domain, password: "pass-\(Counter.next())")
    try create(account)
    return account
  }

  func create(_ account: Account) throws { try run("account", account.name, account.password) }
  func start() throws { try run("start") }
  func stop() throws { try run("stop") }
  func kill() throws { try run("kill") }
  func freeze() throws { try run("freeze") }
  func thaw() throws { try run("thaw") }
  func restart() throws { try run("restart") }
  func remove(_ account: Account) throws { try run("remove", account.name) }
  func setPassword(_ password: String, of account: Account) throws { try run("password", account.name, password) }
  /// Ends the account's streams, with a stream error if one is named. ejabberd knows only "conflict".
  func endStreams(of account: Account, _ condition: String? = nil) throws {
    if let condition { try run("end", account.name, condition) } else { try run("end", account.name) }
  }
  /// While it is stopped: loses sessions, offline messages and message archives.
  func forget() throws { try run("forget") }

  enum Certificate: String, CaseIterable { case good, expired, otherName = "other-name", stranger }
  /// What it shows from its next start on.
  func show(_ certificate: Certificate) throws { try run("certificate", certificate.rawValue) }

  private func run(_ verb: String, _ arguments: String...) throws {
    try Program.run([Self.scripts + "/" + kind.rawValue, verb, folder] + arguments)
  }
}

struct Account: Sendable {
  let name: String
  let domain: String
  var password: String
  var jid: String { name + "@" + domain }
}
