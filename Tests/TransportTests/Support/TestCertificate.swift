import COpenSSL
import Glibc

@testable import Transport

/// A certificate with its private key, made by OpenSSL in memory.
final class TestCertificate: @unchecked Sendable {
  // @unchecked: nothing changes after init, and OpenSSL counts references atomically.

  let certificate: OpaquePointer
  let key: OpaquePointer
  let issuer: TestCertificate?

  enum Failure: Error { case openSSL(String), file }

  /// `names` is the subjectAltName in OpenSSL's text form. Days count from now. No issuer: self-signed.
  init(
    commonName: String, names: String? = nil, issuer: TestCertificate? = nil, isAuthority: Bool = false,
    from: Int = -1, days: Int = 30, key: TestCertificate? = nil, nameConstraints: String? = nil,
    usage: String = "serverAuth"
  ) throws {
    self.issuer = issuer
    if let key {
      EVP_PKEY_up_ref(key.key)
      self.key = key.key
    } else {
      self.key = try Self.makeKey()
    }
    guard let x509 = X509_new() else { throw Failure.openSSL("X509_new") }
    certificate = x509
    X509_set_version(x509, 2)
    ASN1_INTEGER_set_int64(X509_get_serialNumber(x509), Int64.random(in: 1...Int64.max))
    X509_gmtime_adj(X509_getm_notBefore(x509), from * 86_400)
    X509_gmtime_adj(X509_getm_notAfter(x509), days * 86_400)
    X509_set_pubkey(x509, self.key)
    let subject = X509_get_subject_name(x509)
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, commonName, -1, -1, 0)
    X509_set_issuer_name(x509, X509_get_subject_name(issuer?.certificate ?? x509))
    try extend(NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
    if let names { try extend(NID_subject_alt_name, names) }
    if isAuthority {
      try extend(NID_key_usage, "critical,keyCertSign")
    } else {
      try extend(NID_ext_key_usage, usage)
    }
    if let nameConstraints { try extend(NID_name_constraints, nameConstraints) }
    guard X509_sign(x509, issuer?.key ?? self.key, EVP_sha256()) > 0 else { throw Failure.openSSL("X509_sign") }
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  var pin: PublicKeyPin { Certificate(handle: certificate).publicKey }

  /// Calls `body` with the path of a PEM file that holds this certificate.
  func withFile<T>(_ body: (String) throws -> T) throws -> T {
    var path = [CChar]("/tmp/xmppbotd-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0, let file = fdopen(descriptor, "w") else { throw Failure.file }
    PEM_write_X509(file, certificate)
    fclose(file)
    let name = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(name) }
    return try body(name)
  }

  private func extend(_ nid: Int32, _ text: String) throws {
    guard let made = X509V3_EXT_conf_nid(nil, nil, nid, text) else { throw Failure.openSSL(text) }
    defer { X509_EXTENSION_free(made) }
    X509_add_ext(certificate, made, -1)
  }

  private static func makeKey() throws -> OpaquePointer {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw Failure.openSSL("EVP_PKEY_CTX_new_id") }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
      EVP_PKEY_keygen(context, &key) == 1, let key
    else { throw Failure.openSSL("EVP_PKEY_keygen") }
    return key
  }
}
