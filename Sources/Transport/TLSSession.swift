import COpenSSL
import EventLoop
import Glibc

/// TLS on one descriptor, without blocking. It owns OpenSSL's state, not the descriptor.
@LoopActor
final class TLSSession {
  /// What came of a step.
  enum Progress {
    /// Bytes moved; 0 for a completed handshake.
    case done(Int)
    case wantRead, wantWrite
    case ended(CloseReason)
  }

  private let ssl: OpaquePointer
  private let verification: PeerVerification
  private let offered: [String]
  private let descriptor: Int32

  init(_ context: TLSContext, descriptor: Int32, domain: String, alpn: [String]) throws(TLSError) {
    guard let identity = ServiceIdentity(domain: domain) else { throw .configuration("\(domain) is no domain name") }
    ERR_clear_error()
    guard let ssl = SSL_new(context.handle) else { throw .configuration("OpenSSL: \(OpenSSLError.next.text)") }
    self.ssl = ssl
    self.descriptor = descriptor
    offered = alpn
    verification = PeerVerification(identity: identity, pins: context.pins)
    let protocols = alpn.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + [UInt8]($0.utf8) }
    guard verification.attach(to: ssl), SSL_set_fd(ssl, descriptor) == 1,
      identity.serverName.map({ copenssl_set_server_name(ssl, $0) == 1 }) ?? true,
      protocols.isEmpty || SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count)) == 0
    else { throw .configuration("OpenSSL: \(OpenSSLError.next.text)") }
    SSL_set_connect_state(ssl)
  }

  isolated deinit { SSL_free(ssl) }

  func handshake() -> Progress {
    ERR_clear_error()
    errno = 0
    let result = SSL_do_handshake(ssl)
    return result == 1 ? .done(0) : progress(result)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
    ERR_clear_error()
    errno = 0
    let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return result > 0 ? .done(Int(result)) : progress(result)
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Progress {
    ERR_clear_error()
    errno = 0
    let result = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    return result > 0 ? .done(Int(result)) : progress(result)
  }

  /// Whether bytes already taken from the socket wait in OpenSSL, so that the socket will not tell of them.
  var hasPending: Bool { SSL_has_pending(ssl) == 1 }

  /// Sends close_notify, if the socket takes it.
  func sendCloseNotify() {
    ERR_clear_error()
    SSL_shutdown(ssl)
  }

  private func progress(_ result: Int32) -> Progress {
    let code = errno
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantRead
    case SSL_ERROR_WANT_WRITE: return .wantWrite
    case SSL_ERROR_ZERO_RETURN: return .ended(.peerClosed)
    case SSL_ERROR_SYSCALL: return .ended(code == 0 ? .truncated : CloseReason(errno: code))
    default: return .ended(failure(OpenSSLError.next))
    }
  }

  private func failure(_ error: OpenSSLError) -> CloseReason {
    if let problem = verification.problem { return .tls(.certificate(problem.shown(by: descriptor))) }
    guard error.isTLS else { return .tls(.handshake(error.text)) }
    switch error.reason {
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .truncated
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_BAD_RECORD_TYPE:
      return .tls(.notTLS)
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_TLSV1_ALERT_INSUFFICIENT_SECURITY:
      return .tls(.tooOld)
    default: return .tls(.handshake(error.text))
    }
  }

  /// What was agreed on. Fails when the server chose an application protocol that it was not offered.
  func info() throws(TLSError) -> TLSInfo {
    guard let leaf = SSL_get1_peer_certificate(ssl) else { throw .handshake("the server sent no certificate") }
    defer { X509_free(leaf) }
    let certificate = Certificate(handle: leaf)
    let version = SSL_version(ssl)
    let chosen = alpn()
    if let chosen, !offered.contains(chosen) { throw .handshake("the server chose a protocol that was not offered") }
    return TLSInfo(
      version: String(cString: SSL_get_version(ssl)),
      cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
      alpn: chosen,
      certificate: certificate.summary,
      tlsExporter: version >= TLS1_3_VERSION || copenssl_has_extended_master_secret(ssl) == 1 ? exporter() : nil,
      tlsServerEndPoint: certificate.serverEndPoint)
  }

  private func alpn() -> String? {
    var start: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &start, &count)
    return count == 0 ? nil : String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }

  /// RFC 9266, section 2: this label, an empty context, 32 bytes.
  private func exporter() -> [UInt8]? {
    let label = "EXPORTER-Channel-Binding"
    var bytes = [UInt8](repeating: 0, count: 32)
    let empty: [UInt8] = [0]
    return SSL_export_keying_material(ssl, &bytes, bytes.count, label, label.utf8.count, empty, 0, 1) == 1 ? bytes : nil
  }
}

extension CertificateProblem {
  /// The same, with what is known of who showed the certificate on this socket: on a connection to this machine itself nobody can
  /// have put in a key of their own.
  fileprivate func shown(by descriptor: Int32) -> CertificateProblem {
    guard case .unknownAuthority(let issuer, let key, _) = self else { return self }
    return .unknownAuthority(issuer: issuer, key: key, isLocal: Socket.isLocal(descriptor))
  }
}
