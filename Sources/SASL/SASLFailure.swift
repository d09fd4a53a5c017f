/// Why a login did not come about.
public enum SASLFailure: Error, Sendable, Hashable {
  /// The server said so with `<failure/>`; `condition` is nil for a name that RFC 6120 does not know.
  case refused(SASLCondition?, name: String, text: String?)
  /// The server said so inside SCRAM with `e=` (RFC 5802 section 7).
  case serverError(String)

  /// Nothing in the server's list can be used.
  case noMechanism(offered: [String])
  /// Only PLAIN is left, and nothing protects the password on its way.
  case plainWithoutTLS
  /// The server offers less than what worked the last time and does not prove that it means it.
  case weakerThanBefore(MechanismFloor?, offered: [String])
  /// The server's XEP-0474 hash does not fit the lists that arrived here.
  case downgraded

  /// A message does not have the form of RFC 5802; the string says what is wrong with it.
  case malformed(String)
  /// The server asks for an extension (`m=`) that this client has to refuse.
  case mandatoryExtension
  /// The server's nonce does not begin with ours, or adds nothing to it.
  case nonce
  /// The iteration count lies outside of what is accepted.
  case iterations(Int, accepted: ClosedRange<Int>)
  /// The server's signature is wrong: it does not know the password.
  case serverSignature
  /// The server declared success without any signature.
  case serverSignatureMissing
  /// The server sent a challenge where the mechanism has none.
  case unexpectedChallenge

  /// The account's name or password cannot be used as it is.
  case unusable(Credential, reason: String)
  /// libcrypto failed.
  case crypto(String)

  /// The failure in the server's `<failure/>`, whose first child is called `name`.
  public static func refused(name: String, text: String?) -> SASLFailure {
    .refused(SASLCondition(rawValue: name), name: name, text: text)
  }

  public enum Credential: String, Sendable, Hashable { case username, password }

  /// Whether a person has to do something, so that quick retries are pointless and may lock the account.
  public var isPermanent: Bool {
    switch self {
    case .refused(let condition, _, _): condition?.isPermanent ?? true
    case .malformed, .unexpectedChallenge, .crypto: false
    case .serverError(let error): error != "other-error" && error != "no-resources"
    default: true
    }
  }
}

extension SASLFailure: CustomStringConvertible {
  /// One line for the operator: what happened and what to do about it. What the server wrote is quoted and cut.
  public var description: String {
    switch self {
    case .refused(let condition, let name, let text):
      let words = text.flatMap { $0.isEmpty ? nil : " (it says \(quoted($0)))" } ?? ""
      let remedy = condition?.remedy ?? "ask the server's operator what it means"
      return "the server refused the login: \(condition?.rawValue ?? quoted(name))\(words); \(remedy)"
    case .serverError(let error):
      return "the server refused the login inside SCRAM: \(quoted(error)); "
        + SASLCondition.notAuthorized.remedy
    case .noMechanism(let offered):
      return "the server offers no login mechanism that this client has: \(list(offered)); "
        + "let it offer SCRAM-SHA-256 or SCRAM-SHA-1"
    case .plainWithoutTLS:
      return "the server offers only PLAIN and the connection is not protected by verified TLS, "
        + "so the password is not sent; repair TLS or let the server offer SCRAM"
    case .weakerThanBefore(let floor, let offered):
      let before =
        floor.map { "less than \($0), which worked before" } ?? "a channel binding that this client cannot use"
      let remedy =
        floor == nil
        ? "let the server offer tls-exporter or tls-server-end-point, or no -PLUS mechanism"
        : "If the server's operator confirms the change: xmppbotctl forget-mechanism"
      return "the server offers \(before), and does not prove that its list is genuine (offered: \(list(offered))); "
        + "someone in between may have changed it. \(remedy)"
    case .downgraded:
      return "the list of login mechanisms was changed between the server and here (XEP-0474); "
        + "somebody is reading this connection: check the network and the server's certificate"
    case .malformed(let what):
      return "the server's login message is malformed: \(what); it is tried again later"
    case .mandatoryExtension:
      return "the server demands a SCRAM extension that this client does not know; update one of the two programs"
    case .nonce:
      return "the server's SCRAM nonce does not extend ours; "
        + "it is broken or somebody replays an old login: check the server"
    case .iterations(let count, let accepted):
      return "the server asks for \(count) SCRAM iterations, and \(accepted.lowerBound) to \(accepted.upperBound) are "
        + "accepted; change the server's iteration count and set the account's password anew"
    case .serverSignature:
      return "the server could not prove that it knows the password; "
        + "it is not the server that the account is on: check DNS, certificate and network"
    case .serverSignatureMissing:
      return "the server said success without proving that it knows the password; check DNS, certificate and network"
    case .unexpectedChallenge:
      return "the server sent a challenge that the mechanism does not have; it is tried again later"
    case .unusable(let credential, let reason):
      return "the \(credential.rawValue) \(reason); change it"
    case .crypto(let reason):
      return reason
    }
  }
}

/// Text of the server's, fit for a log line: no control or format characters, 120 characters at most.
private func quoted(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars.prefix(120) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
      result += "\u{FFFD}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return "\"\(result)\""
}

private func list(_ names: [String]) -> String {
  if names.isEmpty { return "nothing" }
  return names.prefix(12).map(quoted).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
}
