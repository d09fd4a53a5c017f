internal import COpenSSL

/// Random bytes from libcrypto's generator, which the kernel seeds.
///
/// A generator that fails stops the program: a nonce that is empty or repeated is worse (CVE-2022-48195).
public enum Random {
  /// `count` unpredictable bytes; `count` is positive.
  public static func bytes(_ count: Int) -> [UInt8] {
    precondition(count > 0 && count <= Int(Int32.max), "a number of random bytes must be positive")
    return [UInt8](unsafeUninitializedCapacity: count) { output, filled in
      guard RAND_bytes(output.baseAddress, Int32(count)) == 1 else {
        fatalError(CryptoError("drawing random bytes").description)
      }
      filled = count
    }
  }

  /// `2 * bytes` lower-case hexadecimal digits.
  public static func hex(bytes: Int) -> String { Hex.encode(Random.bytes(bytes)) }

  /// An identifier nobody can guess, for stanzas and requests: URL-safe base64 without padding (RFC 4648 section 5).
  /// The default of 15 bytes (120 bits) gives 20 characters.
  public static func identifier(bytes count: Int = 15) -> String {
    let urlSafe = Base64.encode(bytes(count)).utf8.lazy.filter { $0 != UInt8(ascii: "=") }.map { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: byte
      }
    }
    return String(decoding: Array(urlSafe), as: UTF8.self)
  }
}
