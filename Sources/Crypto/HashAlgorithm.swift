internal import COpenSSL

/// The hash functions that XMPP asks for (XEP-0300 lists them; SCRAM and XEP-0115 name them).
///
/// SHA-1 is here for SCRAM-SHA-1 and the caps of XEP-0115 only, where its weakness to collisions does no harm.
public enum HashAlgorithm: Sendable, Hashable, CaseIterable {
  case sha1, sha256, sha384, sha512

  /// The length of a digest in bytes.
  public var digestLength: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  var evp: OpaquePointer? {
    switch self {
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    case .sha384: EVP_sha384()
    case .sha512: EVP_sha512()
    }
  }
}
