/// Why a server refused a login (RFC 6120 section 6.5).
public enum SASLCondition: String, Sendable, Hashable, CaseIterable {
  case aborted
  case accountDisabled = "account-disabled"
  case credentialsExpired = "credentials-expired"
  case encryptionRequired = "encryption-required"
  case incorrectEncoding = "incorrect-encoding"
  case invalidAuthzid = "invalid-authzid"
  case invalidMechanism = "invalid-mechanism"
  case malformedRequest = "malformed-request"
  case mechanismTooWeak = "mechanism-too-weak"
  case notAuthorized = "not-authorized"
  case temporaryAuthFailure = "temporary-auth-failure"

  /// Whether trying again can only help after somebody has changed something.
  var isPermanent: Bool { self != .temporaryAuthFailure && self != .aborted }

  var remedy: String {
    switch self {
    case .aborted, .temporaryAuthFailure: "it is tried again later"
    case .accountDisabled: "ask the server's operator to enable the account"
    case .credentialsExpired: "set a new password on the server and in the password file"
    case .encryptionRequired, .mechanismTooWeak: "ask the server's operator which mechanisms the account may use"
    case .incorrectEncoding, .malformedRequest, .invalidMechanism:
      "this is a fault of one of the two programs: report it"
    case .invalidAuthzid: "check the account's JID"
    case .notAuthorized: "check the account's JID and password, and that the account exists on the server"
    }
  }
}
