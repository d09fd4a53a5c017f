import COpenSSL

/// Judges one peer's certificate chain, inside the handshake: nothing is sent to a server that does not pass.
///
/// The chain must lead to a trusted authority, hold now, be meant for servers, and be for the domain. With pins, one
/// key of the chain must be pinned too; and a pin of the server's own key stands in for the authority (and for
/// nothing else: dates and name must still hold).
final class PeerVerification {
  let identity: ServiceIdentity
  private let pins: Set<PublicKeyPin>
  private var leafIsPinned = false
  /// Why the chain was refused.
  private(set) var problem: CertificateProblem?

  init(identity: ServiceIdentity, pins: Set<PublicKeyPin>) {
    self.identity = identity
    self.pins = pins
  }

  /// OpenSSL's certificate callback: has every connection of `context` judged by the object that is its SSL's app data.
  static func install(in context: OpaquePointer) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    SSL_CTX_set_cert_verify_callback(
      context,
      { store, _ in
        guard let store, let verification = PeerVerification.find(store) else { return 0 }
        return verification.verify(store) ? 1 : 0
      }, nil)
  }

  /// Makes this object the judge of `ssl`. It must outlive it.
  func attach(to ssl: OpaquePointer) -> Bool {
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1
  }

  private static func find(_ store: OpaquePointer) -> PeerVerification? {
    guard let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let data = SSL_get_ex_data(OpaquePointer(ssl), 0)
    else { return nil }
    return Unmanaged<PeerVerification>.fromOpaque(data).takeUnretainedValue()
  }

  private func verify(_ store: OpaquePointer) -> Bool {
    guard let leaf = X509_STORE_CTX_get0_cert(store).map(Certificate.init) else {
      return refuse(store, .other("there is none"), X509_V_ERR_UNSPECIFIED)
    }
    leafIsPinned = pins.contains(leaf.publicKey)
    X509_STORE_CTX_set_verify_cb(
      store,
      { passed, store in
        guard let store, let verification = PeerVerification.find(store) else { return 0 }
        return verification.step(passed: passed == 1, store) ? 1 : 0
      })
    guard X509_verify_cert(store) == 1 else {
      if problem == nil { problem = .other(Self.text(X509_STORE_CTX_get_error(store))) }
      return false
    }
    let chain = Self.chain(store)
    if !pins.isEmpty, !leafIsPinned, !chain.contains(where: { pins.contains($0.publicKey) }) {
      return refuse(store, .pinMismatch(key: leaf.publicKey), X509_V_ERR_APPLICATION_VERIFICATION)
    }
    let names = leaf.names
    guard identity.matches(names, onlyDNS: chain.contains { $0.hasNameConstraints }) else {
      let shown = names.prefix(8).map(\.displayText)
      return refuse(store, .wrongName(domain: identity.name, names: shown), X509_V_ERR_HOSTNAME_MISMATCH)
    }
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return true
  }

  /// One step of OpenSSL's walk along the chain. True lets it go on.
  private func step(passed: Bool, _ store: OpaquePointer) -> Bool {
    if passed { return true }
    let error = X509_STORE_CTX_get_error(store)
    let unknownAuthority = Self.authorityErrors.contains(error)
    if unknownAuthority, leafIsPinned { return true }
    guard problem == nil else { return false }
    guard let current = X509_STORE_CTX_get_current_cert(store).map(Certificate.init) else {
      problem = .other(Self.text(error))
      return false
    }
    problem =
      switch error {
      case X509_V_ERR_CERT_HAS_EXPIRED: .expired(subject: current.subject, date: current.notAfterText)
      case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid(subject: current.subject, date: current.notBeforeText)
      case _ where unknownAuthority:
        if let key = X509_STORE_CTX_get0_cert(store).map({ Certificate(handle: $0).publicKey }) {
          pins.isEmpty ? .unknownAuthority(issuer: current.issuer, key: key) : .pinMismatch(key: key)
        } else {
          .other(Self.text(error))
        }
      default: .other("\(Self.text(error)) (\(current.subject))")
      }
    return false
  }

  /// The errors that say no more than "nobody here trusts this chain".
  private static let authorityErrors: Set<Int32> = [
    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
    X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
    X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED,
  ]

  private func refuse(_ store: OpaquePointer, _ problem: CertificateProblem, _ code: Int32) -> Bool {
    self.problem = problem
    X509_STORE_CTX_set_error(store, code)
    return false
  }

  private static func chain(_ store: OpaquePointer) -> [Certificate] {
    guard let list = X509_STORE_CTX_get0_chain(store) else { return [] }
    return (0..<max(0, OPENSSL_sk_num(list))).compactMap { index in
      OPENSSL_sk_value(list, index).map { Certificate(handle: OpaquePointer($0)) }
    }
  }

  private static func text(_ error: Int32) -> String { String(cString: X509_verify_cert_error_string(Int(error))) }
}
