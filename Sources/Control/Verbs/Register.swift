import Configuration
import Crypto
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
  static let register = Verb(
    path: ["register"], summary: "Create the account of the configuration on its server (XEP-0077)",
    details: "What the server asks beyond name and password is asked on the terminal."
  ) { call throws(ControlFailure) in
    let account = try AccountAccess(call)
    try Exchange.run(account, goal: .features) { Registration(account) }
    print("the account \(account.settings.account.jid) is there; start the bot with: \(call.startCommand)")
  }
}

/// Registers an account over a stream that has come to its features (XEP-0077 version 2.4 section 3.1).
@LoopActor
final class Registration: ExchangeStep {
  private let account: AccountAccess
  private var asked = false

  nonisolated init(_ account: AccountAccess) {
    self.account = account
  }

  func begin(_ exchange: Exchange, features: StreamFeatures) {
    let query = Element("query", Namespace.register)
    exchange.send(IQ(.get, id: "form", to: account.settings.account.jid.server, payload: query).element)
  }

  func receive(_ element: Element, _ exchange: Exchange) {
    guard let iq = try? IQ(element), !iq.isRequest else { return }
    switch iq.id {
    case "form" where iq.error == nil: submit(iq, exchange)
    case "submit" where iq.error == nil: exchange.finish(nil)
    default: exchange.finish(refusal(iq.error))
    }
  }

  private func refusal(_ error: StanzaError?) -> ControlFailure {
    let jid = account.settings.account.jid
    switch error?.condition {
    case .conflict:
      return ControlFailure(.failed, "\(jid) exists already; if it is yours, put its password into the password file")
    case .notAcceptable:
      return ControlFailure(
        .failed,
        "the server makes no account of this (\(error?.text ?? "no reason given")); \(Self.byAdministrator(jid))")
    case .serviceUnavailable, .featureNotImplemented, .notAllowed, .forbidden:
      return ControlFailure(
        .notAllowed, "\(jid.domain) lets nobody register from outside; \(Self.byAdministrator(jid))")
    case nil: return ControlFailure(.failed, "the server gave no reason; \(Self.byAdministrator(jid))")
    case .resourceConstraint, .policyViolation:
      return ControlFailure(
        .failed,
        "the server wants no more accounts for now (\(error?.description ?? "")); try later, or \(Self.byAdministrator(jid))"
      )
    default:
      return ControlFailure(
        .failed, "the server refused: \(error?.description ?? "no reason given"); \(Self.byAdministrator(jid))")
    }
  }

  /// How an account comes to be where the server lets nobody make one.
  nonisolated static func byAdministrator(_ jid: JID) -> String {
    "have it created on the server (Prosody: prosodyctl adduser \(jid.bare); ejabberd: ejabberdctl register "
      + "\(jid.local ?? "NAME") \(jid.domain) PASSWORD), and put its password into the password file"
  }

  private func submit(_ form: IQ, _ exchange: Exchange) {
    guard let query = form.payload, query.isNamed("query", Namespace.register) else {
      return exchange.finish(ControlFailure(.failed, "the server's form can't be read"))
    }
    if query.child("registered", Namespace.register) != nil {
      return exchange.finish(ControlFailure(.failed, "the server says that we are registered already"))
    }
    do throws(ControlFailure) {
      // In the clear for as long as the form needs it.
      let password = account.password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      let answer = try RegistrationForm(query).filled(
        username: account.settings.account.jid.local ?? "", password: password)
      exchange.send(IQ(.set, id: "submit", to: account.settings.account.jid.server, payload: answer).element)
    } catch {
      exchange.finish(error)
    }
  }
}
