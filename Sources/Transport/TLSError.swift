/// Why TLS could not be set up, or failed later.
public enum TLSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The server's certificate was refused.
  case certificate(CertificateProblem)
  /// The server does not speak TLS here.
  case notTLS
  /// The server offers nothing that is safe enough.
  case tooOld
  /// The two sides could not agree; OpenSSL's reason.
  case handshake(String)
  /// The connection ended during the handshake.
  indirect case connection(CloseReason)
  /// Plain text was still waiting to be sent, or TLS was on already, when TLS was asked for.
  case misuse(String)
  /// The configuration cannot be used: a file, a name.
  case configuration(String)

  public var description: String {
    switch self {
    case .certificate(let problem): "\(problem)"
    case .notTLS:
      "the server does not answer with TLS on this port: check host, port and tls = (5222 is STARTTLS, 5223 direct)"
    case .tooOld: "the server offers no TLS 1.2 or newer, or no cipher with forward secrecy: it has to be updated"
    case .handshake(let reason):
      "TLS handshake failed: \(reason); if the server refused it, its log says why (it may have no certificate for the domain of jid)"
    case .connection(let reason): "TLS handshake failed: \(reason)"
    case .misuse(let reason): "TLS cannot start: \(reason)"
    case .configuration(let reason): reason
    }
  }
}

/// Why a certificate was refused, with what can be done about it.
public enum CertificateProblem: Sendable, Hashable, CustomStringConvertible {
  /// `subject` was good until `date` (UTC).
  case expired(subject: String, date: String)
  case notYetValid(subject: String, date: String)
  /// None of `names`, which the certificate is for, is `domain`.
  case wrongName(domain: String, names: [String])
  /// The chain ends at `issuer`, which nobody here trusts; `key` is the server's. `isLocal`: this machine itself showed it.
  case unknownAuthority(issuer: String, key: PublicKeyPin, isLocal: Bool = false)
  /// No key of the chain is pinned; `key` is the server's.
  case pinMismatch(key: PublicKeyPin)
  /// OpenSSL's words.
  case other(String)

  public var description: String {
    switch self {
    case .expired(let subject, let date):
      "the certificate \(subject) expired on \(date): the server has to renew it (or this machine's clock is wrong)"
    case .notYetValid(let subject, let date):
      "the certificate \(subject) is valid only from \(date): check this machine's clock"
    case .wrongName(let domain, let names):
      "the certificate is not for \(domain) but for \(names.isEmpty ? "no name at all" : names.joined(separator: ", "))"
        + ": the server needs a certificate for \(domain)"
    case .unknownAuthority(let issuer, let key, true):
      "the certificate's authority \(issuer) is not known here. This machine itself showed it: if the server runs here,"
        + " and no tunnel leads on, the key is the server's; then set, below [account], public-key-pin = \(key)"
    case .unknownAuthority(let issuer, let key, false):
      "the certificate's authority \(issuer) is not known here: for a public one install ca-certificates, for a private one"
        + " set ca-file = below [account]. Or, for this certificate alone, set there public-key-pin = \(key), if on the server"
        + " this prints the same: openssl x509 -in CERTIFICATE.pem -pubkey -noout | openssl pkey -pubin -outform der"
        + " | openssl dgst -sha256 -binary | base64 | sed s/^/sha256:/ (Prosody has it in /etc/prosody/certs)"
    case .pinMismatch(let key):
      "the server's public key is \(key), which public-key-pin does not allow: if the server's administrator confirms it,"
        + " set public-key-pin = \(key)"
    case .other(let reason): "the certificate was refused: \(reason)"
    }
  }
}
