import Crypto

/// The hash of what a server offered, by which the two sides find out that someone shortened it on the way
/// (XEP-0474 version 0.5.0 section 5.1).
///
/// Drafts before 0.4 used the attribute `d` and delimiters that can be forged; it is skipped as any unknown attribute.
enum DowngradeHash {
  /// Base64 of the hash of all names in octet order; `bindings` is nil when the server did not use XEP-0440.
  static func compute(mechanisms: [String], bindings: [String]?, using hash: HashAlgorithm) -> String {
    var input = joined(mechanisms)
    if let bindings { input += [0x1F] + joined(bindings) }
    return Base64.encode(Hash.digest(hash, input))
  }

  private static func joined(_ names: [String]) -> [UInt8] {
    let sorted = names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
    return Array(sorted.joined(separator: [0x1E]))
  }
}
