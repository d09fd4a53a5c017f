import Crypto
import SASL

/// What a login is made of, and what earlier logins left behind to make the next one quicker and safer.
public struct Credentials: Sendable {
  public var password: SecretBytes
  /// The strongest login seen so far; anything weaker is refused (XEP-0474 section 6).
  public var floor: MechanismFloor?
  /// Keys already derived from the password, so that a reconnect needs no PBKDF2.
  public var saltedPassword: SaltedPassword?
  /// Makes a text that nobody can guess, anew for each exchange.
  public var nonce: @Sendable () -> String

  public init(
    password: SecretBytes, floor: MechanismFloor? = nil, saltedPassword: SaltedPassword? = nil,
    nonce: @escaping @Sendable () -> String
  ) {
    self.password = password
    self.floor = floor
    self.saltedPassword = saltedPassword
    self.nonce = nonce
  }
}

/// What a login that succeeded leaves for later ones.
public struct Login: Sendable {
  public var floor: MechanismFloor
  public var saltedPassword: SaltedPassword?
}
