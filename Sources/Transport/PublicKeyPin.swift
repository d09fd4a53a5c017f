import COpenSSL

/// The SHA-256 of a certificate's SubjectPublicKeyInfo (as in RFC 7469, section 2.4), written `sha256:` and base64.
///
/// It stays the same when a certificate is renewed with the same key.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
  /// 32 bytes.
  public let digest: [UInt8]

  /// Parses `sha256:` and the base64 of 32 bytes; nil for all else.
  public init?(_ text: String) {
    let prefix = "sha256:"
    guard text.hasPrefix(prefix) else { return nil }
    let encoded = [UInt8](text.utf8.dropFirst(prefix.utf8.count))
    guard encoded.count == 44, encoded.last == UInt8(ascii: "=") else { return nil }
    var decoded = [UInt8](repeating: 0, count: 33)
    guard EVP_DecodeBlock(&decoded, encoded, 44) == 33 else { return nil }
    digest = [UInt8](decoded.prefix(32))
    // One text for one pin: padding bits that are not zero, blanks and the like do not come back.
    guard description == text else { return nil }
  }

  /// The pin of the key whose DER-encoded SubjectPublicKeyInfo this is.
  init(subjectPublicKeyInfo der: UnsafeRawBufferPointer) {
    var hash = [UInt8](repeating: 0, count: 32)
    var size: UInt32 = 0
    let result = EVP_Digest(der.baseAddress, der.count, &hash, &size, EVP_sha256(), nil)
    precondition(result == 1 && size == 32, "SHA-256 is part of every OpenSSL")
    digest = hash
  }

  public var description: String {
    var encoded = [UInt8](repeating: 0, count: 45)
    let count = EVP_EncodeBlock(&encoded, digest, Int32(digest.count))
    return "sha256:" + String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
  }
}
