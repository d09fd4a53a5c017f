import COpenSSL
import Glibc

/// Reads a certificate that OpenSSL owns; valid as long as that one is.
struct Certificate {
  /// An `X509 *`.
  let handle: OpaquePointer

  var summary: CertificateSummary {
    CertificateSummary(
      subject: subject, issuer: issuer, notAfter: Self.unixTime(X509_get0_notAfter(handle)), publicKey: publicKey)
  }

  /// Distinguished names as OpenSSL's one-line text, in which all but printable ASCII is escaped.
  var subject: String { Self.text(X509_get_subject_name(handle)) }
  var issuer: String { Self.text(X509_get_issuer_name(handle)) }

  var notBeforeText: String { Self.dateText(Self.unixTime(X509_get0_notBefore(handle))) }
  var notAfterText: String { Self.dateText(Self.unixTime(X509_get0_notAfter(handle))) }

  var publicKey: PublicKeyPin {
    var der: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), &der)
    defer { copenssl_free(der) }
    return PublicKeyPin(subjectPublicKeyInfo: UnsafeRawBufferPointer(start: der, count: max(0, Int(count))))
  }

  /// Whether the certificate limits the names that it may vouch for.
  var hasNameConstraints: Bool { X509_get_ext_by_NID(handle, NID_name_constraints, -1) >= 0 }

  /// RFC 5929, section 4.1: the certificate's hash by its signature's hash function, SHA-256 in place of MD5 and SHA-1.
  var serverEndPoint: [UInt8]? {
    var hash: Int32 = 0
    guard X509_get_signature_info(handle, &hash, nil, nil, nil) == 1, hash != NID_undef else { return nil }
    if hash == NID_md5 || hash == NID_sha1 { hash = NID_sha256 }
    guard let digest = EVP_get_digestbyname(OBJ_nid2sn(hash)) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var size: UInt32 = 0
    guard X509_digest(handle, digest, &bytes, &size) == 1 else { return nil }
    return [UInt8](bytes.prefix(Int(size)))
  }

  /// The names of the subjectAltName extension; none when it is missing, broken or there twice.
  var names: [CertificateName] {
    guard let raw = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else { return [] }
    let list = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(list) }
    return (0..<max(0, OPENSSL_sk_num(list))).compactMap { index in
      guard let entry = OPENSSL_sk_value(list, index) else { return nil }
      return Self.name(entry.assumingMemoryBound(to: GENERAL_NAME.self))
    }
  }

  private static func name(_ general: UnsafeMutablePointer<GENERAL_NAME>) -> CertificateName? {
    var kind: Int32 = 0
    guard let value = GENERAL_NAME_get0_value(general, &kind) else { return nil }
    switch kind {
    case GEN_DNS: return .dns(bytes(OpaquePointer(value)))
    case GEN_IPADD: return .ip(bytes(OpaquePointer(value)))
    case GEN_OTHERNAME:
      var oid: OpaquePointer?
      var content: UnsafeMutablePointer<ASN1_TYPE>?
      guard GENERAL_NAME_get0_otherName(general, &oid, &content) == 1, let oid, let content = content?.pointee,
        let string = content.value.asn1_string
      else { return nil }
      switch (OBJ_obj2nid(oid), content.type) {
      case (NID_SRVName, V_ASN1_IA5STRING): return .srv(bytes(OpaquePointer(string)))
      case (NID_XmppAddr, V_ASN1_UTF8STRING): return .xmppAddress(bytes(OpaquePointer(string)))
      default: return nil
      }
    default: return nil
    }
  }

  private static func bytes(_ string: OpaquePointer) -> [UInt8] {
    let typed = UnsafePointer<ASN1_STRING>(string)
    return [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(typed), count: Int(ASN1_STRING_length(typed))))
  }

  private static func text(_ name: OpaquePointer?) -> String {
    var buffer = [CChar](repeating: 0, count: 512)
    guard X509_NAME_oneline(name, &buffer, Int32(buffer.count)) != nil else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func unixTime(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
    var parts = tm()
    guard ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
    return Int64(timegm(&parts))
  }

  private static func dateText(_ unixTime: Int64) -> String {
    var time = time_t(unixTime)
    var parts = tm()
    var buffer = [CChar](repeating: 0, count: 64)
    gmtime_r(&time, &parts)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension CertificateName {
  /// For messages: printable ASCII, all else as `?`; 100 characters at most.
  var displayText: String {
    func clean(_ bytes: [UInt8]) -> String {
      String(decoding: bytes.prefix(100).map { (0x20..<0x7f).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
    switch self {
    case .dns(let bytes), .srv(let bytes), .xmppAddress(let bytes): return clean(bytes)
    case .ip(let bytes): return IPAddress(bytes: bytes)?.description ?? "a broken address"
    }
  }
}
