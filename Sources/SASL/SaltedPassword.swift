import Crypto

/// The keys that SCRAM derives slowly from a password (RFC 5802 section 3), kept so that a reconnect needs no PBKDF2.
///
/// The owner takes it from ``SASLClient/saltedPassword`` after a login and hands it to the next one. It knows which
/// password, hash, salt and iteration count it stands for, and is ignored when any of them has changed.
public struct SaltedPassword: Sendable {
  let hash: HashAlgorithm
  let salt: [UInt8]
  let iterations: Int
  let password: SecretBytes
  let clientKey: SecretBytes
  let serverKey: SecretBytes

  init(
    hash: HashAlgorithm, salt: [UInt8], iterations: Int, password: SecretBytes
  ) throws(CryptoError) {
    let salted = try PBKDF2.derive(password: password, salt: salt, iterations: iterations, using: hash)
    self.hash = hash
    self.salt = salt
    self.iterations = iterations
    self.password = password
    clientKey = SecretBytes(HMAC.authenticate(Array("Client Key".utf8), key: salted, using: hash))
    serverKey = SecretBytes(HMAC.authenticate(Array("Server Key".utf8), key: salted, using: hash))
  }

  func isFor(hash: HashAlgorithm, salt: [UInt8], iterations: Int, password: SecretBytes) -> Bool {
    self.hash == hash && self.salt == salt && self.iterations == iterations && self.password == password
  }
}
