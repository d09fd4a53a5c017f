internal import COpenSSL

/// Keys from passwords (RFC 8018 section 5.2, with HMAC as its function).
public enum PBKDF2 {
  /// Derives a key of the hash's own length, which makes this the `Hi()` of SCRAM (RFC 5802 section 2.2).
  ///
  /// The cost is proportional to `iterations`: a million of them take about 0.4 s with SHA-256 and 1 s with SHA-512.
  /// Throws where libcrypto refuses the parameters, as its FIPS provider does with short salts.
  public static func derive(
    password: SecretBytes, salt: [UInt8], iterations: Int, using algorithm: HashAlgorithm
  ) throws(CryptoError) -> SecretBytes {
    guard let rounds = Int32(exactly: iterations), rounds > 0 else {
      throw CryptoError("deriving a key", reason: "\(iterations) iterations are out of range")
    }
    var succeeded = false
    let key = SecretBytes(count: algorithm.digestLength) { output in
      succeeded = password.withUnsafeBytes { password in
        PKCS5_PBKDF2_HMAC(
          password.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(password.count), salt, Int32(salt.count),
          rounds, algorithm.evp, Int32(output.count), output.baseAddress?.assumingMemoryBound(to: UInt8.self)) == 1
      }
    }
    guard succeeded else { throw CryptoError("deriving a key") }
    return key
  }
}
