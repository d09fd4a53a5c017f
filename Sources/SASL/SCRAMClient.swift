public import Crypto

/// The client's side of one SCRAM login (RFC 5802, RFC 7677), with XEP-0474 downgrade protection.
///
/// The caller sends ``clientFirst()``, answers the challenge with ``clientFinal(challenge:)``, and believes nothing before
/// ``finish(serverFinal:)`` has returned. After an error the login is over.
public struct SCRAMClient: Sendable {
  /// The iteration counts that a server may ask for.
  ///
  /// At least 4,096, as RFC 7677 section 4 wants: fewer make the exchange cheap to attack, and a hostile server would
  /// ask for one. At most 2,000,000, which is above every recommendation (1,300,000 for SHA-1 by OWASP) and costs
  /// one or two seconds: a hostile server must not stop the program for minutes.
  public static let acceptedIterations = 4096...2_000_000

  private enum State { case initial, firstSent, finalSent(serverSignature: [UInt8]), verified, failed }

  private let choice: MechanismChoice
  private let hash: HashAlgorithm
  private let password: SecretBytes
  private let nonce: [UInt8]
  private let clientFirstBare: [UInt8]
  private var state = State.initial
  private(set) var saltedPassword: SaltedPassword?

  /// Prepares a login.
  ///
  /// - Parameters:
  ///   - choice: a SCRAM mechanism.
  ///   - username: the account's local part.
  ///   - password: the password as the operator wrote it; SASLprep is applied here.
  ///   - nonce: fresh for each login, 16 or more printable characters without a comma. Base64 of 18 random bytes is one.
  ///   - saltedPassword: what an earlier login derived, if there was one.
  public init(
    choice: MechanismChoice, username: String, password: SecretBytes, nonce: String,
    saltedPassword: SaltedPassword? = nil
  ) throws(SASLFailure) {
    guard let hash = choice.mechanism.hash else { preconditionFailure("PLAIN is not SCRAM") }
    precondition(
      nonce.utf8.count >= 16 && nonce.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ",") },
      "a SCRAM nonce has 16 or more printable characters and no comma")
    self.choice = choice
    self.hash = hash
    self.nonce = Array(nonce.utf8)
    self.saltedPassword = saltedPassword
    let name = try SASLprep.prepare(SecretBytes(username.utf8), as: .username)
    self.password = try SASLprep.prepare(password, as: .password)
    clientFirstBare =
      Array("n=".utf8) + SCRAMMessage.escaped(name.withUnsafeBytes { Array($0) }) + Array(",r=".utf8) + self.nonce
  }

  /// The first message. Call it once.
  public mutating func clientFirst() -> [UInt8] {
    guard case .initial = state else { preconditionFailure("clientFirst is called once") }
    state = .firstSent
    return Array(choice.binding.gs2Header.utf8) + clientFirstBare
  }

  /// The answer to the server's first message, with the proof that we know the password.
  public mutating func clientFinal(challenge: [UInt8]) throws(SASLFailure) -> [UInt8] {
    guard case .firstSent = state else {
      state = .failed
      throw .unexpectedChallenge
    }
    state = .failed
    let message = try SCRAMMessage(challenge)
    let (serverNonce, salt, iterations) = try read(message)
    try checkDowngradeHash(in: message)

    let keys = try deriveKeys(salt: salt, iterations: iterations)
    let withoutProof =
      Array("c=\(Base64.encode(choice.binding.channelBindingInput)),r=".utf8) + serverNonce
    let comma = [UInt8(ascii: ",")]
    let authMessage = clientFirstBare + comma + challenge + comma + withoutProof
    let clientKey = keys.clientKey.withUnsafeBytes { Array($0) }
    let signature = HMAC.authenticate(authMessage, key: Hash.digest(hash, clientKey), using: hash)
    let proof = zip(clientKey, signature).map { $0 ^ $1 }
    state = .finalSent(serverSignature: HMAC.authenticate(authMessage, key: keys.serverKey, using: hash))
    saltedPassword = keys
    return withoutProof + Array(",p=\(Base64.encode(proof))".utf8)
  }

  /// Checks the server's last message: only a server that knows the password's keys can have written it.
  public mutating func finish(serverFinal: [UInt8]) throws(SASLFailure) {
    guard case .finalSent(let expected) = state else {
      state = .failed
      throw .malformed("the final message comes out of turn")
    }
    state = .failed
    let message = try SCRAMMessage(serverFinal)
    if message.attributes.first?.name == UInt8(ascii: "e") {
      throw .serverError(String(decoding: message.attributes[0].value, as: UTF8.self))
    }
    guard let signature = Base64.decode(try message.value(at: 0, named: "v")) else {
      throw .malformed("v= is not base64")
    }
    guard ConstantTime.equal(signature, expected) else { throw .serverSignature }
    state = .verified
  }

  /// Whether the server has proved that it knows the password.
  public var isVerified: Bool { if case .verified = state { true } else { false } }

  var awaitsServerFinal: Bool { if case .finalSent = state { true } else { false } }

  private func read(
    _ message: SCRAMMessage
  ) throws(SASLFailure) -> (nonce: [UInt8], salt: [UInt8], iterations: Int) {
    if message.attributes.first?.name == UInt8(ascii: "e") {
      throw .serverError(String(decoding: message.attributes[0].value, as: UTF8.self))
    }
    // RFC 5802 puts m= first; wherever it stands, it means that we would not understand the rest.
    if message.attributes.contains(where: { $0.name == UInt8(ascii: "m") }) { throw .mandatoryExtension }
    let serverNonce = try message.value(at: 0, named: "r")
    guard serverNonce.starts(with: nonce), serverNonce.count > nonce.count else { throw .nonce }
    guard serverNonce.allSatisfy({ 0x21...0x7E ~= $0 }) else { throw .malformed("the nonce is not printable") }
    guard let salt = Base64.decode(try message.value(at: 1, named: "s")), !salt.isEmpty else {
      throw .malformed("s= is not base64")
    }
    guard let iterations = SCRAMMessage.positiveNumber(try message.value(at: 2, named: "i")) else {
      throw .malformed("i= is not a number")
    }
    guard Self.acceptedIterations.contains(iterations) else {
      throw .iterations(iterations, accepted: Self.acceptedIterations)
    }
    return (Array(serverNonce), salt, iterations)
  }

  private func checkDowngradeHash(in message: SCRAMMessage) throws(SASLFailure) {
    guard let sent = try message.optionalValue(from: 3, named: "h") else {
      if choice.requiresDowngradeProof { throw .weakerThanBefore(choice.weakerThan, offered: choice.offered) }
      return
    }
    let ours = DowngradeHash.compute(mechanisms: choice.offered, bindings: choice.offeredBindings, using: hash)
    guard sent.elementsEqual(ours.utf8) else { throw .downgraded }
  }

  private func deriveKeys(salt: [UInt8], iterations: Int) throws(SASLFailure) -> SaltedPassword {
    if let saltedPassword, saltedPassword.isFor(hash: hash, salt: salt, iterations: iterations, password: password) {
      return saltedPassword
    }
    do throws(CryptoError) {
      return try SaltedPassword(hash: hash, salt: salt, iterations: iterations, password: password)
    } catch {
      throw .crypto(error.description)
    }
  }
}
