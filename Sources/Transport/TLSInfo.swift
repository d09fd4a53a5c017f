/// What was agreed on in a TLS handshake, and with whom.
public struct TLSInfo: Sendable, Hashable {
  /// "TLSv1.3" or "TLSv1.2".
  public let version: String
  /// OpenSSL's name of the cipher suite.
  public let cipher: String
  /// What the server chose by ALPN, if it did.
  public let alpn: String?
  public let certificate: CertificateSummary
  /// Channel binding `tls-exporter` (RFC 9266): 32 bytes. Nil on TLS 1.2 without the extended master secret.
  public let tlsExporter: [UInt8]?
  /// Channel binding `tls-server-end-point` (RFC 5929, section 4.1). Nil when the certificate's signature has no
  /// hash of its own (Ed25519), for which it is not defined.
  public let tlsServerEndPoint: [UInt8]?

  public init(
    version: String, cipher: String, alpn: String?, certificate: CertificateSummary, tlsExporter: [UInt8]?,
    tlsServerEndPoint: [UInt8]?
  ) {
    self.version = version
    self.cipher = cipher
    self.alpn = alpn
    self.certificate = certificate
    self.tlsExporter = tlsExporter
    self.tlsServerEndPoint = tlsServerEndPoint
  }
}

/// The server's certificate, for status displays and warnings.
public struct CertificateSummary: Sendable, Hashable {
  public let subject: String
  public let issuer: String
  /// Last second of validity, in Unix time.
  public let notAfter: Int64
  public let publicKey: PublicKeyPin

  public init(subject: String, issuer: String, notAfter: Int64, publicKey: PublicKeyPin) {
    self.subject = subject
    self.issuer = issuer
    self.notAfter = notAfter
    self.publicKey = publicKey
  }
}
