internal import COpenSSL

/// A hash in one call.
public enum Hash {
  /// The digest of `data`.
  ///
  /// Traps if libcrypto cannot compute it: that is an installation without the algorithm (or without memory), where
  /// neither TLS nor the login would work, and no caller could do better than stop.
  public static func digest(_ algorithm: HashAlgorithm, _ data: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: algorithm.digestLength) { output, count in
      guard EVP_Digest(data, data.count, output.baseAddress, nil, algorithm.evp, nil) == 1 else {
        fatalError(CryptoError("computing \(algorithm)").description)
      }
      count = algorithm.digestLength
    }
  }
}
