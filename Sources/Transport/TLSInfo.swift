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
}

/// The server's certificate, for status displays and warnings.
public struct CertificateSummary: Sendable, Hashable {
  public let subject: String
  public let issuer: String
  /// Last second of validity, in Unix time.
  public let notAfter: Int64
  public let publicKey: PublicKeyPin
}
