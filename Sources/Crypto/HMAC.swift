internal import COpenSSL

/// Keyed hashes (RFC 2104).
public enum HMAC {
  /// The authentication code of `message`. Traps as ``Hash/digest(_:_:)`` does.
  public static func authenticate(_ message: [UInt8], key: [UInt8], using algorithm: HashAlgorithm) -> [UInt8] {
    key.withUnsafeBytes { authenticate(message, key: $0, using: algorithm) }
  }

  /// The authentication code of `message` under a key that is itself a secret to be erased.
  public static func authenticate(_ message: [UInt8], key: SecretBytes, using algorithm: HashAlgorithm) -> [UInt8] {
    key.withUnsafeBytes { authenticate(message, key: $0, using: algorithm) }
  }

  private static func authenticate(
    _ message: [UInt8], key: UnsafeRawBufferPointer, using algorithm: HashAlgorithm
  ) -> [UInt8] {
    // libcrypto reads a null key as "the key of last time", which a one-shot call has not got.
    var none: UInt8 = 0
    return [UInt8](unsafeUninitializedCapacity: algorithm.digestLength) { output, count in
      let result = withUnsafePointer(to: &none) { empty in
        COpenSSL.HMAC(
          algorithm.evp, key.baseAddress ?? UnsafeRawPointer(empty), Int32(key.count), message, message.count,
          output.baseAddress, nil)
      }
      guard result != nil else { fatalError(CryptoError("computing HMAC-\(algorithm)").description) }
      count = algorithm.digestLength
    }
  }
}
