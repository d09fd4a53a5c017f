public import Crypto

/// The SASL mechanisms this client knows (RFC 5802, RFC 7677, RFC 4616; SCRAM-SHA-512 as in draft-melnikov-scram-sha-512).
/// Their order of declaration is their order of strength, strongest first.
///
/// Everything else is left alone on purpose: EXTERNAL needs a client certificate, and XEP-0438 forbids DIGEST-MD5.
public enum Mechanism: String, Sendable, Hashable, CaseIterable {
  case scramSHA512Plus = "SCRAM-SHA-512-PLUS"
  case scramSHA256Plus = "SCRAM-SHA-256-PLUS"
  case scramSHA1Plus = "SCRAM-SHA-1-PLUS"
  case scramSHA512 = "SCRAM-SHA-512"
  case scramSHA256 = "SCRAM-SHA-256"
  case scramSHA1 = "SCRAM-SHA-1"
  case plain = "PLAIN"

  /// Whether the mechanism ties the login to the TLS channel.
  public var bindsChannel: Bool {
    switch self {
    case .scramSHA512Plus, .scramSHA256Plus, .scramSHA1Plus: true
    case .scramSHA512, .scramSHA256, .scramSHA1, .plain: false
    }
  }

  /// SCRAM's hash function; nil for PLAIN.
  public var hash: HashAlgorithm? {
    switch self {
    case .scramSHA512Plus, .scramSHA512: .sha512
    case .scramSHA256Plus, .scramSHA256: .sha256
    case .scramSHA1Plus, .scramSHA1: .sha1
    case .plain: nil
    }
  }
}
