import COpenSSL

/// What all TLS connections of an account share: trust, versions and ciphers.
///
/// TLS 1.2 or newer, ciphers with forward secrecy and authenticated encryption only, no renegotiation, no compression,
/// no session resumption (each connection is verified anew). Verification cannot be switched off.
public final class TLSContext: @unchecked Sendable {
  // @unchecked: the SSL_CTX is set up in init and only read afterwards, which OpenSSL allows from any thread.

  let handle: OpaquePointer
  let pins: Set<PublicKeyPin>

  /// `caFile`: PEM file of the authorities to trust INSTEAD of the system's; nil for the system's.
  /// `pins`: when there are any, one key of the server's chain has to be among them, whoever signed it. The pin of the
  /// server's own key also makes an unknown or missing authority acceptable; name and dates must hold all the same.
  /// Throws `.configuration` when the file cannot be used.
  public init(caFile: String? = nil, pins: [PublicKeyPin] = []) throws(TLSError) {
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_client_method()) else {
      throw .configuration("OpenSSL cannot start: \(OpenSSLError.next.text)")
    }
    handle = context
    self.pins = Set(pins)
    copenssl_set_client_options(context)
    guard copenssl_require_tls12(context) == 1,
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aNULL:!PSK:!SRP") == 1
    else { throw .configuration("OpenSSL refuses our ciphers: \(OpenSSLError.next.text)") }
    PeerVerification.install(in: context)
    if let caFile {
      guard copenssl_add_ca_file(context, caFile) == 1 else {
        throw .configuration(
          "ca-file \(caFile) cannot be read as PEM certificates (\(OpenSSLError.next.text)): check its path, rights and content"
        )
      }
    } else {
      guard SSL_CTX_set_default_verify_paths(context) == 1 else {
        throw .configuration("the system's certificates cannot be read: install ca-certificates")
      }
    }
    ERR_clear_error()
  }

  deinit { SSL_CTX_free(handle) }
}

/// An entry of OpenSSL's error queue of this thread.
struct OpenSSLError {
  let code: UInt

  /// Takes the oldest entry out.
  static var next: OpenSSLError { OpenSSLError(code: ERR_get_error()) }

  var reason: Int32 { ERR_GET_REASON(code) }
  var isTLS: Bool { ERR_GET_LIB(code) == ERR_LIB_SSL }

  var text: String {
    ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
  }
}
