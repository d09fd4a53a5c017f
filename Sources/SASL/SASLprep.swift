import CUnistring
import Crypto
import Glibc

/// The preparation of user names and passwords that SCRAM prescribes (RFC 4013, tables of RFC 3454).
///
/// One deviation: code points that Unicode 3.2 did not assign are let through, as other clients and servers do;
/// a password with an emoji would else be unusable. Normalization is NFKC by libunistring's version of Unicode.
enum SASLprep {
  /// The prepared form of `secret`. ASCII is checked and returned as it is.
  static func prepare(
    _ secret: SecretBytes, as credential: SASLFailure.Credential
  ) throws(SASLFailure) -> SecretBytes {
    let isASCII = try secret.withUnsafeBytes { bytes throws(SASLFailure) in
      if bytes.isEmpty { throw .unusable(credential, reason: "is empty") }
      if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
        throw .unusable(credential, reason: "contains a control character")
      }
      return bytes.allSatisfy { $0 < 0x80 }
    }
    if isASCII { return secret }

    guard let decoded = Scalars(utf8: secret) else { throw .unusable(credential, reason: "is not valid UTF-8") }
    decoded.mapInPlace()
    guard let normalized = decoded.normalized(), let result = normalized.utf8() else {
      throw .unusable(credential, reason: "cannot be normalized")
    }
    let scalars = normalized.scalars
    if scalars.isEmpty { throw .unusable(credential, reason: "consists of characters that count for nothing") }
    if let scalar = scalars.first(where: isProhibited) {
      let number = String(scalar, radix: 16, uppercase: true)
      throw .unusable(credential, reason: "contains U+\(number), which SASLprep (RFC 4013) prohibits")
    }
    if !satisfiesBidiRule(scalars) {
      throw .unusable(credential, reason: "mixes writing directions against RFC 3454 section 6")
    }
    return result
  }

  /// Table C.1.2, which maps to a space.
  static func isSpace(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0xA0, 0x1680, 0x2000...0x200B, 0x202F, 0x205F, 0x3000: true
    default: false
    }
  }

  /// Table B.1, which maps to nothing.
  static func isIgnored(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0xAD, 0x34F, 0x1806, 0x180B...0x180D, 0x200C, 0x200D, 0x2060, 0xFE00...0xFE0F, 0xFEFF: true
    default: false
    }
  }

  /// Tables C.1.2 and C.2.1 to C.9.
  static func isProhibited(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0...0x1F, 0x7F...0x9F, 0x6DD, 0x70F, 0x180E, 0x200C, 0x200D, 0x2028, 0x2029, 0x2060...0x2063, 0x206A...0x206F,
      0xFEFF, 0xFFF9...0xFFFD, 0x1D173...0x1D17A:
      true  // control characters, and those inappropriate for plain text
    case 0xE000...0xF8FF, 0xF0000...0x10FFFF: true  // private use
    case 0xFDD0...0xFDEF: true  // no characters
    case 0xD800...0xDFFF, 0x2FF0...0x2FFB: true  // surrogates, description characters
    case 0x340, 0x341, 0x200E, 0x200F, 0x202A...0x202E: true  // change display
    case 0xE0001, 0xE0020...0xE007F: true  // tags
    default: scalar & 0xFFFE == 0xFFFE || isSpace(scalar)
    }
  }

  /// RFC 3454 section 6: right-to-left text begins and ends so, and holds no left-to-right character.
  private static func satisfiesBidiRule(_ scalars: UnsafeBufferPointer<UInt32>) -> Bool {
    func isRightToLeft(_ scalar: UInt32) -> Bool {
      let category = uc_bidi_category(scalar)
      return category == Int32(UC_BIDI_R) || category == Int32(UC_BIDI_AL)
    }
    guard scalars.contains(where: isRightToLeft), let first = scalars.first, let last = scalars.last else {
      return true
    }
    return isRightToLeft(first) && isRightToLeft(last)
      && !scalars.contains { uc_bidi_category($0) == Int32(UC_BIDI_L) }
  }
}

/// Code points in memory that libunistring allocated and that is overwritten before it is freed.
private final class Scalars {
  private let start: UnsafeMutablePointer<UInt32>
  private let capacity: Int
  private var count: Int

  private init(_ start: UnsafeMutablePointer<UInt32>, count: Int) {
    self.start = start
    self.count = count
    capacity = count
  }

  deinit {
    explicit_bzero(start, capacity * MemoryLayout<UInt32>.stride)
    free(start)
  }

  /// Nil if `secret` is not UTF-8.
  convenience init?(utf8 secret: SecretBytes) {
    var length = 0
    let decoded = secret.withUnsafeBytes {
      u8_to_u32($0.bindMemory(to: UInt8.self).baseAddress, $0.count, nil, &length)
    }
    guard let decoded else { return nil }
    self.init(decoded, count: length)
  }

  var scalars: UnsafeBufferPointer<UInt32> { UnsafeBufferPointer(start: start, count: count) }

  /// Applies tables C.1.2 and B.1. U+200B stands in both and becomes a space, as in other implementations.
  func mapInPlace() {
    var kept = 0
    for index in 0..<count where !SASLprep.isIgnored(start[index]) {
      start[kept] = SASLprep.isSpace(start[index]) ? 0x20 : start[index]
      kept += 1
    }
    count = kept
  }

  func normalized() -> Scalars? {
    var length = 0
    guard let result = u32_normalize(cunistring_nfkc(), start, count, nil, &length) else { return nil }
    return Scalars(result, count: length)
  }

  func utf8() -> SecretBytes? {
    var length = 0
    guard let result = u32_to_u8(start, count, nil, &length) else { return nil }
    defer {
      explicit_bzero(result, length)
      free(result)
    }
    return SecretBytes(UnsafeBufferPointer(start: result, count: length))
  }
}
