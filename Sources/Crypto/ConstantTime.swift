internal import COpenSSL

/// Comparisons whose duration says nothing about where two secrets differ.
public enum ConstantTime {
  /// Whether both hold the same bytes. Their lengths are not a secret.
  public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
  }
}
