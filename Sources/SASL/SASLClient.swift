public import Crypto

/// One login by any mechanism, as RFC 6120 section 6 frames it: `<auth/>`, challenges and responses, `<success/>`.
/// It does no I/O; payloads are bytes before base64.
public struct SASLClient: Sendable {
  private enum Exchange {
    case plain(message: SecretBytes)
    case scram(SCRAMClient)
  }

  public let choice: MechanismChoice
  private var exchange: Exchange
  private var challenged = false

  /// Prepares a login. The parameters are those of ``SCRAMClient/init(choice:username:password:nonce:saltedPassword:)``.
  public init(
    choice: MechanismChoice, username: String, password: SecretBytes, nonce: String,
    saltedPassword: SaltedPassword? = nil
  ) throws(SASLFailure) {
    self.choice = choice
    if choice.mechanism == .plain {
      exchange = .plain(message: try Self.plainMessage(username: username, password: password))
    } else {
      exchange = .scram(
        try SCRAMClient(
          choice: choice, username: username, password: password, nonce: nonce, saltedPassword: saltedPassword))
    }
  }

  /// The initial response, for `<auth/>`. Call it once.
  public mutating func start() -> [UInt8] {
    switch exchange {
    case .plain(let message):
      return message.withUnsafeBytes { Array($0) }
    case .scram(var client):
      defer { exchange = .scram(client) }
      return client.clientFirst()
    }
  }

  /// The answer to a `<challenge/>`.
  ///
  /// A server may send SCRAM's last message as a challenge of its own; the answer to that is empty.
  public mutating func respond(to challenge: [UInt8]) throws(SASLFailure) -> [UInt8] {
    challenged = true
    guard case .scram(var client) = exchange else { throw .unexpectedChallenge }
    defer { exchange = .scram(client) }
    guard client.awaitsServerFinal else { return try client.clientFinal(challenge: challenge) }
    try client.finish(serverFinal: challenge)
    return []
  }

  /// Judges `<success/>`, whose content is `additional`. When this returns, both sides have proved themselves.
  public mutating func succeed(with additional: [UInt8]?) throws(SASLFailure) {
    guard case .scram(var client) = exchange else { return }
    defer { exchange = .scram(client) }
    guard let additional, !additional.isEmpty else {
      guard client.isVerified else { throw .serverSignatureMissing }
      return
    }
    guard client.isVerified || client.awaitsServerFinal else { throw .serverSignatureMissing }
    try client.finish(serverFinal: additional)
  }

  /// Whether, after `<failure/>`, this login should be tried once more on the same stream, with
  /// `MechanismPolicy.choose(…, guessFailed: true)`: the binding was a guess, and the server refused before it could
  /// look at the password.
  public var mayRetryWithoutBinding: Bool { choice.bindingIsGuessed && !challenged }

  /// What a later login can start from; nil before the password was needed, and with PLAIN.
  public var saltedPassword: SaltedPassword? {
    if case .scram(let client) = exchange { client.saltedPassword } else { nil }
  }

  /// RFC 4616: the password goes as it was written, for the server prepares it as its own storage needs.
  private static func plainMessage(username: String, password: SecretBytes) throws(SASLFailure) -> SecretBytes {
    let name = Array(username.utf8)
    if name.contains(0) { throw .unusable(.username, reason: "contains a NUL character") }
    return try password.withUnsafeBytes { bytes throws(SASLFailure) in
      if bytes.isEmpty { throw .unusable(.password, reason: "is empty") }
      if bytes.contains(0) { throw .unusable(.password, reason: "contains a NUL character") }
      return SecretBytes([0] + name + [0] + bytes)
    }
  }
}
