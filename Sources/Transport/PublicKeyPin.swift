import Crypto

/// The SHA-256 of a certificate's SubjectPublicKeyInfo (as in RFC 7469, section 2.4), written `sha256:` and base64.
///
/// It stays the same when a certificate is renewed with the same key.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
  /// 32 bytes.
  public let digest: [UInt8]

  /// Parses `sha256:` and the digest in base64 (44 characters) or in hexadecimal (64 digits, colons allowed); nil for
  /// all else.
  public init?(_ text: String) {
    guard text.hasPrefix("sha256:") else { return nil }
    let encoded = String(text.dropFirst("sha256:".count))
    // 64 hexadecimal digits would be base64 as well.
    guard let digest = Self.hexadecimal(encoded) ?? Base64.decode(encoded), digest.count == 32 else { return nil }
    self.digest = digest
  }

  private static func hexadecimal(_ text: String) -> [UInt8]? {
    let digits = text.filter { $0 != ":" }.map { $0.isASCII ? $0.hexDigitValue : nil }
    guard digits.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).reduce(into: [UInt8]?.some([])) { bytes, index in
      guard let high = digits[index], let low = digits[index + 1] else { return bytes = nil }
      bytes?.append(UInt8(high << 4 | low))
    }
  }

  /// The pin of the key whose DER-encoded SubjectPublicKeyInfo this is.
  init(subjectPublicKeyInfo der: UnsafeRawBufferPointer) {
    digest = Hash.digest(.sha256, [UInt8](der))
  }

  public var description: String { "sha256:" + Base64.encode(digest) }
}
